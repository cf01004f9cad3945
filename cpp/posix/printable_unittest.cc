#include "sgclaw/posix/printable.h"

#include "gtest/gtest.h"

namespace sgclaw::posix {
namespace {

TEST(PrintableTest, TextStaysAsItIs) {
  EXPECT_EQ(Printable(""), "");
  EXPECT_EQ(Printable("a\tb"), "a\tb");
  EXPECT_EQ(Printable("é 张三 🙂"), "é 张三 🙂");
}

TEST(PrintableTest, WhatATerminalWouldObeyIsReplaced) {
  EXPECT_EQ(Printable("a\x1b[2Jb\rc\x7f"), "a�[2Jb�c�");
  // A C1 control, which some terminals take for ESC [.
  EXPECT_EQ(Printable("\xc2\x9b"), "�");
  EXPECT_EQ(Printable(std::string_view("\0", 1)), "�");
}

TEST(PrintableTest, WhatIsNoUtf8IsReplaced) {
  // Cut, alone, overlong, a surrogate, beyond Unicode.
  for (const char* text : {"\xe5\xbc", "\x80", "\xc0\xaf", "\xe0\x80\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    std::string printable = Printable(text);
    EXPECT_NE(printable.find("�"), std::string::npos);
    for (size_t i = 0; i < printable.size(); i += 3)
      EXPECT_EQ(printable.substr(i, 3), "�");
  }
  EXPECT_EQ(Printable("a\xff-b"), "a�-b");
}

}  // namespace
}  // namespace sgclaw::posix
