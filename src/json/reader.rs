use std::borrow::Cow;

use super::value::{MAX_SAFE_INTEGER, Object, Value};

/// How deep a message may nest; the top-level value is depth 1 (contract section 2).
pub const MAX_DEPTH: usize = 64;

/// Chromium's own messages nest deeper than ours (a DOM snapshot), but not without bound: the reader recurses.
const LENIENT_MAX_DEPTH: usize = 512;

/// Reads one JSON text as strictly as contract section 2 asks. Linear in the input's length, but
/// for the sorting of keys.
///
/// # Errors
/// What was expected and at which byte; never what stood there.
pub fn parse(text: &[u8]) -> Result<Value<'_>, JsonError> {
    Reader::new(text, Mode::Strict)?.document()
}

/// Reads a message of the browser, which we must understand even where it is not ours to judge:
/// lone surrogates become U+FFFD, of duplicate keys the last one wins, numbers may be large, and
/// nesting goes to 512.
///
/// # Errors
/// As [`parse`].
pub fn parse_lenient(text: &[u8]) -> Result<Value<'_>, JsonError> {
    Reader::new(text, Mode::Lenient)?.document()
}

/// Why a text is not acceptable JSON, and where. Quotes nothing of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// The offset in bytes from the start of the text.
    pub offset: usize,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text begins with a byte order mark.
    ByteOrderMark,
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text ends too early.
    UnexpectedEnd,
    /// Something else was expected.
    Expected(&'static str),
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// A backslash is followed by no known escape.
    InvalidEscape,
    /// A `\u` escape of half a surrogate pair.
    LoneSurrogate,
    /// A number that JSON does not allow, such as `01` or `.5`.
    InvalidNumber,
    /// A number whose double is above 2^53 − 1 in magnitude.
    NumberTooLarge,
    /// A key occurs twice in one object.
    DuplicateKey,
    /// The nesting is too deep.
    TooDeep,
    /// Something follows the value.
    TrailingData,
    /// The value is not an object.
    NotAnObject,
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.offset;
        match self.kind {
            JsonErrorKind::ByteOrderMark => {
                f.write_str("a byte order mark at byte 0: send UTF-8 without one")
            }
            JsonErrorKind::NotUtf8 => write!(f, "not UTF-8 at byte {at}"),
            JsonErrorKind::UnexpectedEnd => write!(f, "the text ends too early, at byte {at}"),
            JsonErrorKind::Expected(what) => write!(f, "expected {what} at byte {at}"),
            JsonErrorKind::ControlCharacter => {
                write!(f, "an unescaped control character in a string at byte {at}")
            }
            JsonErrorKind::InvalidEscape => write!(f, "an escape that JSON does not know at byte {at}"),
            JsonErrorKind::LoneSurrogate => write!(f, "a lone surrogate escape at byte {at}"),
            JsonErrorKind::InvalidNumber => write!(f, "a number that JSON does not allow at byte {at}"),
            JsonErrorKind::NumberTooLarge => {
                write!(f, "a number above 2^53-1 in magnitude at byte {at}: send it as a string")
            }
            JsonErrorKind::DuplicateKey => write!(f, "a duplicate key in the object that ends at byte {at}"),
            JsonErrorKind::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} at byte {at}"),
            JsonErrorKind::TrailingData => {
                write!(f, "more than one JSON value: something follows at byte {at}")
            }
            JsonErrorKind::NotAnObject => f.write_str("expected a JSON object at the top level"),
        }
    }
}

impl std::error::Error for JsonError {}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Strict,
    Lenient,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    mode: Mode,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], mode: Mode) -> Result<Self, JsonError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| JsonError { kind: JsonErrorKind::NotUtf8, offset: error.valid_up_to() })?;
        let reader = Reader { text, at: 0, depth: 0, mode };
        if text.starts_with('\u{feff}') {
            return Err(reader.error(JsonErrorKind::ByteOrderMark));
        }
        Ok(reader)
    }

    fn document(mut self) -> Result<Value<'a>, JsonError> {
        let value = self.value()?;
        self.skip_white_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.error(JsonErrorKind::TrailingData)),
        }
    }

    fn value(&mut self) -> Result<Value<'a>, JsonError> {
        self.skip_white_space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(self.number()?)),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) => Err(self.error(JsonErrorKind::Expected("a JSON value"))),
            None => Err(self.error(JsonErrorKind::UnexpectedEnd)),
        }
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Value<'a>, JsonError>,
    ) -> Result<Value<'a>, JsonError> {
        let limit = if self.mode == Mode::Strict { MAX_DEPTH } else { LENIENT_MAX_DEPTH };
        if self.depth >= limit {
            return Err(self.error(JsonErrorKind::TooDeep));
        }
        self.depth = self.depth.saturating_add(1);
        self.advance();
        let value = read(self)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(value)
    }

    fn object(&mut self) -> Result<Value<'a>, JsonError> {
        let mut members = Vec::new();
        self.skip_white_space();
        if !self.take(b'}') {
            loop {
                self.skip_white_space();
                if self.peek() != Some(b'"') {
                    return Err(self.expected("a key in double quotes"));
                }
                let key = self.string()?;
                self.skip_white_space();
                if !self.take(b':') {
                    return Err(self.expected("':'"));
                }
                members.push((key, self.value()?));
                self.skip_white_space();
                if self.take(b'}') {
                    break;
                }
                if !self.take(b',') {
                    return Err(self.expected("',' or '}'"));
                }
            }
        }
        let (object, duplicates) = Object::from_members(members);
        if duplicates && self.mode == Mode::Strict {
            return Err(self.error(JsonErrorKind::DuplicateKey));
        }
        Ok(Value::Object(object))
    }

    fn array(&mut self) -> Result<Value<'a>, JsonError> {
        let mut elements = Vec::new();
        self.skip_white_space();
        if !self.take(b']') {
            loop {
                elements.push(self.value()?);
                self.skip_white_space();
                if self.take(b']') {
                    break;
                }
                if !self.take(b',') {
                    return Err(self.expected("',' or ']'"));
                }
            }
        }
        Ok(Value::Array(elements))
    }

    /// Reads a string; its opening quote is next.
    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.advance();
        let plain = self.plain_run();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = plain.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.advance();
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.error(JsonErrorKind::ControlCharacter)),
                None => return Err(self.error(JsonErrorKind::UnexpectedEnd)),
            }
            text.push_str(self.plain_run());
        }
    }

    /// The characters up to the next quote, backslash, control character or the end.
    fn plain_run(&mut self) -> &'a str {
        let rest = self.rest();
        let length =
            rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
        self.at = self.at.saturating_add(length);
        rest.get(..length).unwrap_or_default()
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.advance();
        let Some(letter) = self.peek() else {
            return Err(self.error(JsonErrorKind::UnexpectedEnd));
        };
        self.advance();
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(start),
            _ => return Err(JsonError { kind: JsonErrorKind::InvalidEscape, offset: start }),
        })
    }

    /// Reads the digits after `\u`, and the second half of a surrogate pair.
    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        let first = self.hex4(start)?;
        let lone = JsonError { kind: JsonErrorKind::LoneSurrogate, offset: start };
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at = self.at.saturating_add(2);
            let second = self.hex4(before)?;
            if (0xdc00..0xe000).contains(&second) {
                units.push(second);
            } else {
                self.at = before;
            }
        }
        match char::decode_utf16(units).next() {
            Some(Ok(character)) => Ok(character),
            _ if self.mode == Mode::Lenient => Ok(char::REPLACEMENT_CHARACTER),
            _ => Err(lone),
        }
    }

    fn hex4(&mut self, start: usize) -> Result<u16, JsonError> {
        let invalid = JsonError { kind: JsonErrorKind::InvalidEscape, offset: start };
        let digits = self.rest().get(..4).ok_or(invalid)?;
        // `from_str_radix` would take a sign.
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(invalid);
        }
        self.at = self.at.saturating_add(4);
        u16::from_str_radix(digits, 16).map_err(|_| invalid)
    }

    fn number(&mut self) -> Result<f64, JsonError> {
        let start = self.at;
        let invalid = JsonError { kind: JsonErrorKind::InvalidNumber, offset: start };
        self.take(b'-');
        if !self.take(b'0') && !self.digits() {
            return Err(invalid);
        }
        if self.take(b'.') && !self.digits() {
            return Err(invalid);
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            if !self.digits() {
                return Err(invalid);
            }
        }
        if matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(invalid); // a leading zero
        }
        let number: f64 = self.text.get(start..self.at).and_then(|text| text.parse().ok()).ok_or(invalid)?;
        if self.mode == Mode::Strict && number.abs() > MAX_SAFE_INTEGER as f64 {
            return Err(JsonError { kind: JsonErrorKind::NumberTooLarge, offset: start });
        }
        Ok(number.clamp(f64::MIN, f64::MAX))
    }

    /// Takes digits; says whether there was one.
    fn digits(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.advance();
        }
        self.at > start
    }

    fn word(&mut self, word: &'static str, value: Value<'a>) -> Result<Value<'a>, JsonError> {
        if self.rest().starts_with(word) {
            self.at = self.at.saturating_add(word.len());
            Ok(value)
        } else {
            Err(self.error(JsonErrorKind::Expected("a JSON value")))
        }
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.advance();
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.advance();
        }
        found
    }

    /// Passes one byte, which is ASCII wherever this is called, so that `at` stays on a boundary.
    fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn expected(&self, what: &'static str) -> JsonError {
        self.error(match self.peek() {
            Some(_) => JsonErrorKind::Expected(what),
            None => JsonErrorKind::UnexpectedEnd,
        })
    }

    fn error(&self, kind: JsonErrorKind) -> JsonError {
        JsonError { kind, offset: self.at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> JsonErrorKind {
        parse(text.as_bytes()).expect_err(text).kind
    }

    #[test]
    fn duplicate_keys_are_refused_at_any_depth_and_in_any_spelling() {
        assert_eq!(kind(r#"{"a":1,"b":2,"a":3}"#), JsonErrorKind::DuplicateKey);
        assert_eq!(kind(r#"{"x":[{"y":{"a":1,"\u0061":2}}]}"#), JsonErrorKind::DuplicateKey);
    }

    #[test]
    fn the_64th_level_is_accepted_and_the_65th_is_not() {
        let nest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nest(64).as_bytes()).is_ok());
        assert_eq!(kind(&nest(65)), JsonErrorKind::TooDeep);
        assert!(parse_lenient(nest(512).as_bytes()).is_ok());
        assert_eq!(parse_lenient(nest(100_000).as_bytes()).unwrap_err().kind, JsonErrorKind::TooDeep);
    }

    #[test]
    fn lone_surrogates_are_refused_and_pairs_are_joined() {
        for text in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\ud800""#, r#""\ud800x""#, r#""\udc00\ud800""#] {
            assert_eq!(kind(text), JsonErrorKind::LoneSurrogate, "{text}");
        }
        assert_eq!(parse(br#""\ud83d\ude00""#).unwrap().as_str(), Some("😀"));
        assert_eq!(parse_lenient(br#""a\ud800\u0041b""#).unwrap().as_str(), Some("a\u{fffd}Ab"));
    }

    #[test]
    fn numbers_whose_double_is_above_the_limit_are_refused_in_any_spelling() {
        for text in [
            "9007199254740992",
            "-9007199254740992",
            "9007199254740991.5",
            "9.007199254740992e15",
            "90071992547409920e-1",
            "1e400",
            "-1e400",
        ] {
            assert_eq!(kind(text), JsonErrorKind::NumberTooLarge, "{text}");
        }
        for text in ["9007199254740991", "-9007199254740991", "9007199254740991.2", "9007199254740991e0"] {
            assert_eq!(parse(text.as_bytes()).unwrap().as_f64().map(f64::abs), Some(9_007_199_254_740_991.0));
        }
        assert_eq!(parse(b"1e-400").unwrap().as_f64(), Some(0.0));
        assert_eq!(parse_lenient(b"1e400").unwrap().as_f64(), Some(f64::MAX));
    }

    #[test]
    fn what_json_does_not_allow_is_refused() {
        for text in [
            "",
            " ",
            "01",
            "-01",
            "-",
            "+1",
            ".5",
            "1.",
            "1.e1",
            "1e",
            "1e+",
            "00",
            "0x1",
            "NaN",
            "Infinity",
            "nul",
            "truefalse",
            "tru",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\" 1}",
            "{'a':1}",
            "{\"a\"}",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u+123\"",
            "\"\\u12\"",
            "\"\t\"",
            "\"\u{1}\"",
            "1 2",
            "{} {}",
            "{}x",
            "[",
            "{",
            "{\"a\":",
            "/**/1",
            "\u{a0}1",
            "\u{c}1",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "accepted {text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_named() {
        assert_eq!(kind("\u{feff}{}"), JsonErrorKind::ByteOrderMark);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused_where_they_stand() {
        for (text, offset) in
            [(&b"\"ab\xff\""[..], 3), (b"\"\xc3", 1), (b"\"\xed\xa0\x80\"", 1), (b"\"\xc0\x80\"", 1)]
        {
            assert_eq!(parse(text).unwrap_err(), JsonError { kind: JsonErrorKind::NotUtf8, offset });
        }
    }

    #[test]
    fn noncharacters_and_escaped_nul_are_allowed() {
        assert_eq!(
            parse("\"\u{ffff}\u{fdd0}\\u0000\"".as_bytes()).unwrap().as_str(),
            Some("\u{ffff}\u{fdd0}\0")
        );
    }

    #[test]
    fn strings_without_escapes_are_borrowed() {
        assert!(matches!(parse(b"\"plain\"").unwrap(), Value::String(Cow::Borrowed("plain"))));
    }

    #[test]
    fn integral_doubles_are_integers_and_others_are_not() {
        let integer = |text: &str| parse(text.as_bytes()).unwrap().as_integer();
        assert_eq!(integer("1.0"), Some(1));
        assert_eq!(integer("1e0"), Some(1));
        assert_eq!(integer("-0"), Some(0));
        assert_eq!(integer("1.5"), None);
        assert_eq!(integer("\"1\""), None);
    }
}
