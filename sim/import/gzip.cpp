#include "sim/import/gzip.h"

#include <limits>
#include <vector>
#include <zlib.h>

#include "sim/core/error.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// A stream that is closed on every way out.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipWindow = 16 + MAX_WBITS;
    HEADWAY_CHECK(inflateInit2(&stream_, kGzipWindow) == Z_OK, "zlib does not start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

std::string gunzip(std::string_view bytes, const std::string& file_name, std::size_t limit) {
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::vector<Bytef> input(bytes.begin(), bytes.end());
  std::vector<Bytef> block(std::size_t{1} << 18);
  std::string out;
  HEADWAY_CHECK(input.size() <= std::numeric_limits<uInt>::max(), "{} bytes", input.size());
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(input.size());
  for (int status = Z_OK; status != Z_STREAM_END;) {
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = block.size() - stream.avail_out;
    out.append(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(made));
    if (status == Z_STREAM_END && stream.avail_in > 0) {  // several members, as `cat a.gz b.gz`
      status = inflateReset(&stream) == Z_OK ? Z_OK : Z_DATA_ERROR;
    }
    if (out.size() > limit) {
      core::refuse_larger(file_name, limit, "is, unpacked,");
    }
    if ((status != Z_OK && status != Z_STREAM_END) || (status == Z_OK && made == 0)) {
      throw core::Error(mark_of_file(file_name), stream.avail_in == 0 ? "the gzip file is cut off"
                                                                      : "the gzip file is damaged");
    }
  }
  return out;
}

}  // namespace headway::import
