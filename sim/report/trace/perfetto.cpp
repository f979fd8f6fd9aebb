// TrackEvents: a stream of packets, of which each describes a track or is an event on one.
// Numbers of messages and fields: perfetto/protos/perfetto/trace/{trace,trace_packet}.proto and
// track_event/{track_event,track_descriptor,debug_annotation}.proto (Perfetto 25, 2022; they never
// change). tests/python/test_trace.py reads them with Perfetto's own decoder.
#include <protozero/pbf_writer.hpp>
#include <string>

#include "sim/report/trace/trace.h"

namespace headway::report {

namespace {

using protozero::pbf_writer;

namespace packet {
constexpr int kOfTrace = 1, kTimestamp = 8, kSequence = 10, kEvent = 11, kFlags = 13, kTrack = 60;
}
namespace track {
constexpr int kId = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
constexpr int kProcessId = 1, kProcessName = 6, kThreadProcess = 1, kThreadId = 2, kThreadName = 5;
}  // namespace track
namespace event {
constexpr int kAnnotation = 4, kType = 9, kTrack = 11, kName = 23, kCounterValue = 30, kFlow = 47;
constexpr int kAnnotationName = 10, kAnnotationWhole = 4, kAnnotationText = 6;
constexpr int kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace event

/// All packets are of one writer, which begins with an empty memory of names.
constexpr std::uint32_t kWriter = 1, kFresh = 1;

class PerfettoWriter {
 public:
  void process(const std::string& name) {
    packet(-1, [&](pbf_writer& out) {
      if (process_ == 0) {
        out.add_uint32(packet::kFlags, kFresh);
      }
      pbf_writer descriptor(out, packet::kTrack);
      descriptor.add_uint64(track::kId, next_track_++);
      pbf_writer process(descriptor, track::kProcess);
      process.add_int32(track::kProcessId, ++process_);
      process.add_string(track::kProcessName, name);
    });
  }

  /// @returns the track's id
  std::uint64_t thread(const std::string& name) {
    const std::uint64_t id = next_track_++;
    packet(-1, [&](pbf_writer& out) {
      pbf_writer descriptor(out, packet::kTrack);
      descriptor.add_uint64(track::kId, id);
      pbf_writer thread(descriptor, track::kThread);
      thread.add_int32(track::kThreadProcess, process_);
      thread.add_int64(track::kThreadId, static_cast<std::int64_t>(id));
      thread.add_string(track::kThreadName, name);
    });
    return id;
  }

  void counter(const TraceCounter& counter, std::uint64_t thread) {
    const std::uint64_t id = next_track_++;
    packet(-1, [&](pbf_writer& out) {
      pbf_writer descriptor(out, packet::kTrack);
      descriptor.add_uint64(track::kId, id);
      descriptor.add_string(track::kName, counter.name);
      descriptor.add_uint64(track::kParent, thread);
      const pbf_writer kind(descriptor, track::kCounter);
    });
    for (const auto& change : counter.values) {
      packet(change.first, [&](pbf_writer& out) {
        pbf_writer event(out, packet::kEvent);
        event.add_enum(event::kType, event::kCounter);
        event.add_uint64(event::kTrack, id);
        event.add_int64(event::kCounterValue, change.second);
      });
    }
  }

  void slice(const TraceSlice& slice, std::uint64_t track) {
    packet(slice.begin_ns, [&](pbf_writer& out) {
      pbf_writer event(out, packet::kEvent);
      event.add_enum(event::kType, slice.instant ? event::kInstant : event::kBegin);
      event.add_uint64(event::kTrack, track);
      event.add_string(event::kName, slice.name);
      for (const std::uint64_t flow : slice.flows) {
        event.add_fixed64(event::kFlow, flow);
      }
      for (const auto& more : slice.more) {
        annotate(more.first, more.second, event);
      }
    });
    if (!slice.instant) {
      packet(slice.begin_ns + slice.length_ns, [&](pbf_writer& out) {
        pbf_writer event(out, packet::kEvent);
        event.add_enum(event::kType, event::kEnd);
        event.add_uint64(event::kTrack, track);
      });
    }
  }

  [[nodiscard]] std::string take() { return std::move(data_); }

 private:
  /// @param time  [ns]; below zero: none
  template <class Fill>
  void packet(std::int64_t time, Fill fill) {
    pbf_writer trace(data_);
    pbf_writer out(trace, packet::kOfTrace);
    if (time >= 0) {
      out.add_uint64(packet::kTimestamp, static_cast<std::uint64_t>(time));
    }
    out.add_uint32(packet::kSequence, kWriter);
    fill(out);
  }

  static void annotate(const std::string& name, const Json& value, pbf_writer& event) {
    pbf_writer annotation(event, event::kAnnotation);
    if (value.is_number_integer()) {
      annotation.add_int64(event::kAnnotationWhole, value.get<std::int64_t>());
    } else {
      annotation.add_string(event::kAnnotationText,
                            value.is_string() ? value.get<std::string>() : value.dump());
    }
    annotation.add_string(event::kAnnotationName, name);
  }

  std::string data_;
  std::uint64_t next_track_ = 1;
  std::int32_t process_ = 0;  ///< that threads are of
};

void write_process(const Trace& trace, PerfettoWriter& writer) {
  writer.process(trace.process);
  for (const TraceThread& thread : trace.threads) {
    const std::uint64_t track = writer.thread(thread.name);
    for (const TraceSlice& slice : thread.slices) {
      writer.slice(slice, track);
    }
    for (const TraceCounter& counter : thread.counters) {
      writer.counter(counter, track);
    }
  }
  if (!trace.left_out.empty()) {
    const std::uint64_t notes = writer.thread("left out");
    for (const std::string& note : trace.left_out) {
      writer.slice({note, 0, 0, true, {}, {}}, notes);
    }
  }
}

}  // namespace

std::string perfetto_trace(const std::vector<Trace>& traces) {
  PerfettoWriter writer;
  for (const Trace& trace : traces) {
    write_process(trace, writer);
  }
  return writer.take();
}

}  // namespace headway::report
