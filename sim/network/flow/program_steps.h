// The steps of programs that are written by hand.
#pragma once

#include "sim/network/flow/problem.h"

namespace headway::network {

/// This actor has come to the group of its `slot`.
constexpr ProgramStep arrive(std::uint32_t slot) {
  return {StepCode::arrive, core::Activity::other, 0, slot, 0};
}
/// Blocks until the group of the actor's `slot` is done.
constexpr ProgramStep wait(std::uint32_t slot) {
  return {StepCode::wait, core::Activity::other, 0, slot, 0};
}
/// What follows, up to `end_loop`, is done `count` times.
constexpr ProgramStep loop(std::int64_t count) {
  return {StepCode::loop, core::Activity::other, 0, 0, count};
}
constexpr ProgramStep end_loop() { return {StepCode::end_loop, core::Activity::other, 0, 0, 0}; }

}  // namespace headway::network
