// A collective alone on fabrics that carry it and on fabrics that do not.
#include "sim/network/collective/collective_alone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "sim/core/error.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;
using core::GpuId;

constexpr std::array kKinds{CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                            CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                            CollectiveKind::all_to_all,     CollectiveKind::send_receive};

TimeOnFabric time_on(const FabricInput& in, int gpus, const CollectiveCall& call) {
  const Fabric fabric(in);
  auto members = first_gpus(gpus);
  if (call.kind == CollectiveKind::send_receive) {
    members = {members.front(), members.back()};
  }
  GroupOnFabric group(fabric, members, make_parameters(in, NcclGeneration::hopper), {});
  return group.time(call);
}

/// 64 H100 on a fat tree with two nodes a leaf: 4 leaves.
FabricInput four_leaves(double oversubscription, Routing routing = Routing::adaptive) {
  auto in = dgx_h100(8);
  in.fabric.topology = Topology::fat_tree;
  in.fabric.ports_per_leaf = 16;
  in.fabric.efficiency = 0.92;
  in.fabric.leaf_oversubscription = oversubscription;
  in.fabric.routing = routing;
  return in;
}

TEST(CollectiveAlone, TakesItsCalibratedTimeWhereTheFabricIsNonBlocking) {
  for (const auto topology :
       {Topology::fat_tree, Topology::rail_optimized, Topology::rail_only, Topology::multi_plane}) {
    for (const auto kind : kKinds) {
      for (const core::Bytes bytes : {8_KiB, 4_MiB, 1_GiB}) {
        auto in = dgx_h100(8);
        in.fabric.topology = topology;
        in.fabric.planes = topology == Topology::multi_plane ? 4 : 1;
        const auto time = time_on(in, 64, {kind, bytes, {}, {}});
        EXPECT_EQ(time.time.total, time.alone)
            << core::to_word(topology) << ' ' << core::to_word(kind);
        EXPECT_FALSE(time.slowest);
      }
    }
  }
}

TEST(CollectiveAlone, AnExchangeTakesWhatTheUplinksOfALeafNeed) {
  // 16 GPUs of a leaf send 48 parts of 1 GiB / 64 each out of it, over 16 / x cables of 46 GB/s;
  // at 1:1 the NICs need as long: 20.4 ms with the parts that stay in the node left out.
  const double out = 16.0 * 48 * 1073741824 / 64;
  for (const double x : {1, 2, 4, 8}) {
    const auto time = time_on(four_leaves(x), 64, {CollectiveKind::all_to_all, 1_GiB, {}, {}});
    const double uplinks = out / (16 / x * 46e9);
    const double nics = 56.0 * 1073741824 / 64 / 46e9;
    const double latency = time.time.alpha.si();
    EXPECT_NEAR(time.time.total.si(), latency + std::max(uplinks, nics), 1e-6) << x;
    EXPECT_EQ(time.slowest.has_value(), x > 1) << x;
  }
  const auto time = time_on(four_leaves(4), 64, {CollectiveKind::all_to_all, 1_GiB, {}, {}});
  EXPECT_NEAR(time.time.total.si(), 70.0e-3, 0.1e-3);
}

TEST(CollectiveAlone, AnExchangeOfThousandsTakesWhatTheCoresNeed) {
  // 24,576 GPUs in pods of 3,072 with 7:1 above their spines. Of 8,192 GPUs, 3,072 of the first pod
  // send to 5,120 beyond it: 1 GiB / 8,192 each over 3,072 x 45 GB/s / 7.
  auto in = four_leaves(1);
  in.nodes = 3072;
  in.fabric.tiers = 3;
  in.fabric.efficiency = 0.9;
  in.fabric.leaves_per_pod = 192;
  in.fabric.spine_oversubscription = 7;
  const auto time = time_on(in, 8192, {CollectiveKind::all_to_all, 1_GiB, {}, {}});
  const double cores = 3072.0 * 5120 * 1073741824 / 8192 / (3072 * 45e9 / 7);
  // Cables are whole: a pod has up to a spine's one more than a seventh.
  const Fabric fabric(in);
  const double whole = fabric.link(fabric.spine_link(0, 0, 0, true)).nominal.si();
  EXPECT_GE(whole, 3072 * 45e9 / 7);
  EXPECT_NEAR(time.time.total.si(), cores * (3072 * 45e9 / 7) / whole + time.time.alpha.si(),
              cores * 0.001);
}

TEST(CollectiveAlone, ASmallShareOfABigPoolKeepsItsPrecision) {
  // As above, and one NIC at a hundredth: its bytes are 1 / 2,500 of those of a pod's pool, and it
  // is what the call waits for.
  auto in = four_leaves(1);
  in.nodes = 3072;
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = 192;
  in.fabric.spine_oversubscription = 7;
  Fabric fabric(in);
  fabric.degrade(fabric.nic_link(5, 3, 0, true), 0.01);
  GroupOnFabric group(fabric, first_gpus(8192), make_parameters(in, NcclGeneration::hopper), {});
  const auto time = group.time({CollectiveKind::all_to_all, 1_GiB, {}, {}});
  const double nic = 8184.0 / 8192 * 1073741824 / (0.01 * 46e9);
  EXPECT_NEAR((time.time.total - time.time.alpha).si() / nic, 1, 0.005);
}

TEST(CollectiveAlone, MoreOversubscriptionIsNeverFaster) {
  for (const auto routing : {Routing::adaptive, Routing::ecmp, Routing::destination_modulo}) {
    for (const auto kind : kKinds) {
      for (std::uint64_t seed = 0; seed < (routing == Routing::ecmp ? 10U : 1U); ++seed) {
        core::Seconds before;
        for (const double x : {1, 2, 4, 8}) {
          auto in = four_leaves(x, routing);
          in.hash_seed = seed;
          const auto time = time_on(in, 64, {kind, 1_GiB, {}, {}});
          EXPECT_GE(time.time.total, before * 0.999)
              << core::to_word(kind) << ' ' << core::to_word(routing) << ' ' << x << ':' << seed;
          before = time.time.total;
        }
      }
    }
  }
}

TEST(CollectiveAlone, AHashedFabricIsSlowerThanASprayedOneByItsDraw) {
  const CollectiveCall call{CollectiveKind::all_gather, 1_GiB, {}, {}};
  const auto spray = time_on(four_leaves(1), 64, call);
  std::set<double> times;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    auto in = four_leaves(1, Routing::ecmp);
    in.hash_seed = seed;
    const auto hashed = time_on(in, 64, call);
    EXPECT_GT(hashed.time.total, spray.time.total);
    EXPECT_EQ(hashed.time.total, time_on(in, 64, call).time.total);
    times.insert(hashed.time.total.si());
  }
  EXPECT_GT(times.size(), 1U);
}

TEST(CollectiveAlone, RefusesWhatHasNoPath) {
  auto in = dgx_h100(2);
  in.fabric.topology = Topology::rail_only;
  in.fabric.pxn = false;
  EXPECT_NO_THROW(time_on(in, 16, {CollectiveKind::all_reduce, 1_MiB, Algorithm::ring, {}}));
  try {
    time_on(in, 16, {CollectiveKind::all_to_all, 1_MiB, {}, {}});
    FAIL() << "there is no path between rails";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("are not joined"));
  }
}

TEST(CollectiveAlone, AnExchangeThatCannotBeRoutedInTimeIsRefused) {
  auto in = flat_tree(20000, Routing::ecmp);
  try {
    time_on(in, 20000, {CollectiveKind::all_to_all, 1_GiB, {}, {}});
    FAIL() << "400 million routes";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("an exchange of 20000 ranks has 4e+08 messages"));
  }
}

TEST(CollectiveAlone, SizesShareTheirRoutes) {
  const Fabric fabric(four_leaves(4));
  GroupOnFabric group(fabric, first_gpus(64),
                      make_parameters(fabric.input(), NcclGeneration::hopper), {});
  for (const core::Bytes bytes : {1_MiB, 1_GiB, 64_KiB}) {
    const CollectiveCall call{CollectiveKind::all_to_all, bytes, {}, {}};
    const auto fresh = time_on(four_leaves(4), 64, call);
    EXPECT_NEAR(group.time(call).time.total.si(), fresh.time.total.si(), 2e-12);
  }
}

}  // namespace
}  // namespace headway::network
