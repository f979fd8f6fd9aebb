#include "sim/training/degrade.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::training {

namespace {

void degrade_port(std::uint32_t node, std::uint32_t rail, double keeps, network::Fabric& fabric) {
  for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
    for (const bool up : {true, false}) {
      const core::LinkId link = fabric.nic_link(node, rail, plane, up);
      fabric.degrade(link, keeps, fabric.link(link).cables);
    }
  }
}

}  // namespace

void degrade_links(const std::vector<Degradation>& degradations, network::Fabric& fabric) {
  for (const auto& it : degradations) {
    HEADWAY_CHECK(it.keeps > 0 && it.keeps <= 1, "a slow part keeps {} of its rate", it.keeps);
    if (it.kind == Degradation::Kind::link) {
      const auto place = fabric.place(it.gpu);
      degrade_port(place.node, place.rail, it.keeps, fabric);
    } else if (it.kind == Degradation::Kind::all_links) {
      for (std::uint32_t node = 0; node < fabric.shape().nodes; ++node) {
        for (std::uint32_t rail = 0; rail < fabric.shape().rails; ++rail) {
          degrade_port(node, rail, it.keeps, fabric);
        }
      }
    }
  }
}

void slow_actors(const std::vector<Degradation>& degradations, network::Problem& problem) {
  constexpr double kPerMillion = 1e6;
  for (const auto& it : degradations) {
    const auto slowdown = static_cast<std::int64_t>(std::llround((1 / it.keeps - 1) * kPerMillion));
    if (it.kind == Degradation::Kind::gpu) {
      HEADWAY_CHECK(it.gpu.index() < problem.actors.size(), "GPU {} of {}", it.gpu.index(),
                    problem.actors.size());
      auto& actor = problem.actors[it.gpu.index()];
      actor.slowdown_ppm = std::max(actor.slowdown_ppm, slowdown);
    } else if (it.kind == Degradation::Kind::all_gpus) {
      for (auto& actor : problem.actors) {
        actor.slowdown_ppm = std::max(actor.slowdown_ppm, slowdown);
      }
    }
  }
}

}  // namespace headway::training
