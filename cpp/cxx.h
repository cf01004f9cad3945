#ifndef SGCLAW_CPP_CXX_H_
#define SGCLAW_CPP_CXX_H_

// Chromium carries cxx's header in one place, cargo in another.
#if __has_include("third_party/rust/cxx/v1/cxx.h")
#include "third_party/rust/cxx/v1/cxx.h"
#else
#include "rust/cxx.h"
#endif

#endif  // SGCLAW_CPP_CXX_H_
