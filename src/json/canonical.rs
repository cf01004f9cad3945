use super::value::{Object, Value};

/// Appends `value` in the canonical form of contract section 5: keys in order of their UTF-8
/// bytes, no white space, escapes only where JSON demands them, numbers as ECMAScript prints them.
pub fn write_canonical(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(*number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(elements) => {
            out.push('[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_canonical(element, out);
            }
            out.push(']');
        }
        Value::Object(object) => write_object(object, out),
    }
}

pub(super) fn write_object(object: &Object<'_>, out: &mut String) {
    out.push('{');
    for (position, (key, value)) in object.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        write_canonical(value, out);
    }
    out.push('}');
}

/// The length in bytes of `text` as a canonical JSON string, quotes included. For an executor that
/// cuts a page's text so that the response fits into a message.
pub fn canonical_len(text: &str) -> usize {
    text.chars()
        .map(|character| escape(character).map_or(character.len_utf8(), Escape::len))
        .fold(2, usize::saturating_add)
}

/// Appends `text` as a canonical JSON string.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match escape(character) {
            None => out.push(character),
            Some(Escape::Short(letter)) => out.extend(['\\', letter]),
            Some(Escape::Unicode) => out.push_str(&format!("\\u{:04x}", u32::from(character))),
        }
    }
    out.push('"');
}

enum Escape {
    Short(char),
    Unicode,
}

impl Escape {
    fn len(self) -> usize {
        match self {
            Escape::Short(_) => 2,
            Escape::Unicode => 6,
        }
    }
}

fn escape(character: char) -> Option<Escape> {
    Some(match character {
        '"' | '\\' => Escape::Short(character),
        '\u{8}' => Escape::Short('b'),
        '\u{c}' => Escape::Short('f'),
        '\n' => Escape::Short('n'),
        '\r' => Escape::Short('r'),
        '\t' => Escape::Short('t'),
        '\0'..='\u{1f}' => Escape::Unicode,
        _ => return None,
    })
}

/// Appends a finite double as ECMAScript's `Number::toString` prints it (RFC 8785 section 3.2.2.3).
pub fn write_number(number: f64, out: &mut String) {
    let scientific = shortest(number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // The decimal point stands after this many digits.
    let point = exponent.saturating_add(1);
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let (whole, fraction) =
        digits.split_at_checked(usize::try_from(point).unwrap_or_default()).unwrap_or((&digits, ""));

    if number < 0.0 {
        out.push('-');
    }
    if number == 0.0 {
        out.push('0');
    } else if count <= point && point <= 21 {
        out.push_str(&digits);
        out.push_str(&zeros(point.saturating_sub(count)));
    } else if 0 < point && point <= 21 {
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    } else if -6 < point && point <= 0 {
        out.push_str("0.");
        out.push_str(&zeros(point.saturating_neg()));
        out.push_str(&digits);
    } else {
        out.push_str(mantissa);
        out.push('e');
        out.push(if exponent < 0 { '-' } else { '+' });
        out.push_str(&exponent.unsigned_abs().to_string());
    }
}

/// The shortest digits that read back as `number`, of several the nearest, of two equally near the
/// even ones, as ECMAScript asks for; only their layout is not ECMAScript's.
fn shortest(number: f64) -> String {
    let shortest = format!("{number:e}");
    let digits = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    // Rust may print the odd ones of two equally near. Numbers of at most 15 digits are too far
    // apart for that. Rounding to a given number of digits prefers the even ones.
    if digits > 15 {
        let even = format!("{number:.*e}", digits.saturating_sub(1));
        if even.parse() == Ok(number) {
            return even;
        }
    }
    shortest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{JsonObject, parse};
    use proptest::prelude::*;

    fn canonical(text: &str) -> String {
        let mut out = String::new();
        write_canonical(&parse(text.as_bytes()).unwrap(), &mut out);
        out
    }

    #[test]
    fn keys_are_ordered_by_their_utf8_bytes_not_by_utf16_units() {
        // U+FB33 sorts after U+1F600 in UTF-16, and before it in UTF-8.
        assert_eq!(
            canonical("{\"\u{1f600}\":1,\"\u{fb33}\":2,\"a\":3,\"B\":4,\"\":5,\"aa\":6}"),
            "{\"\":5,\"B\":4,\"a\":3,\"aa\":6,\"\u{fb33}\":2,\"\u{1f600}\":1}"
        );
    }

    #[test]
    fn all_spellings_of_one_value_have_one_form() {
        for text in
            [r#"{"é":[1.0,"/"]}"#, r#"{ "\u00e9" : [ 1e0 , "\/" ] }"#, "\r\n{\"\\u00E9\":\t[10e-1,\"/\"]}"]
        {
            assert_eq!(canonical(text), r#"{"é":[1,"/"]}"#);
        }
    }

    #[test]
    fn only_what_json_demands_is_escaped() {
        assert_eq!(
            canonical(r#""\u0000\u0008\u0009\u000a\u000b\u000c\u000d\u001f\u007f\u2028\/\"\\\ud83d\ude00""#),
            "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}\u{2028}/\\\"\\\\😀\""
        );
    }

    /// Any JSON value that a message may hold.
    fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let number =
            any::<f64>().prop_filter("within the contract", |number| number.abs() <= 9_007_199_254_740_991.0);
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            number.prop_map(Into::into),
            (-9_007_199_254_740_991_i64..9_007_199_254_740_991).prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(6, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..8)
                    .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_canonical_form_of_the_canonical_form_is_itself(value in any_value()) {
            let once = canonical(&value.to_string());
            prop_assert_eq!(canonical(&once), once.clone());
            // serde_json, written by others, reads the same value from it.
            let theirs = value.to_string();
            prop_assert_eq!(parse(once.as_bytes()).unwrap(), parse(theirs.as_bytes()).unwrap());
        }

        #[test]
        fn the_length_told_is_the_length_written(text in any::<String>()) {
            let mut out = String::new();
            write_string(&text, &mut out);
            prop_assert_eq!(canonical_len(&text), out.len());
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in any::<Vec<u8>>()) {
            let _ = parse(&text);
            let _ = crate::json::parse_lenient(&text);
            let _ = JsonObject::parse(&text);
        }

        #[test]
        fn what_serde_json_refuses_is_refused(text in r#"[\[\]{}",:0-9eE.+ \\u\-truefalsn]{0,24}"#) {
            if serde_json::from_str::<serde_json::Value>(&text).is_err() {
                prop_assert!(parse(text.as_bytes()).is_err());
            }
        }
    }
}
