// Texts of others - names, lines of files, arguments - as messages, terminals and shells may have
// them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headway::core {

/// Bytes of the UTF-8 character that starts at byte `at`; 0 if there is none (RFC 3629).
std::size_t utf8_length(std::string_view text, std::size_t at);

/// The first byte that belongs to no UTF-8 character; nothing if the whole text is UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// `text` with every byte that would command a terminal (C0 and C1 controls but line break and tab,
/// delete) or is no UTF-8 written out, as "\x1b". What is visible already stays as it is.
std::string visible(std::string_view text);

/// `text` in which no character is wider or narrower than it looks: controls and tabs become '?'
/// and ' ', so that a caret below a column stands where it should.
std::string blanked(std::string_view text);

/// `text`, cut with "..." behind its first `most` bytes or a little before: what a message quotes
/// of an argument or a word that may be a megabyte long.
std::string shortened(std::string_view text, std::size_t most = 80);

/// A word that a POSIX shell reads as `text`, whatever is in it; in quotes where it needs them.
std::string shell_word(std::string_view text);

}  // namespace headway::core
