//! The keys of a US keyboard, as Chromium's key events name them.

/// One key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// `KeyboardEvent.key`
    pub(super) key: String,
    /// `KeyboardEvent.code`
    pub(super) code: String,
    /// The Windows virtual key code.
    pub(super) virtual_code: u32,
    /// What it types; "" for keys that type nothing.
    pub(super) text: String,
    /// Whether Shift is held for it.
    pub(super) shifted: bool,
}

const PUNCTUATION: &[(char, char, &str, u32)] = &[
    ('`', '~', "Backquote", 192),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    ('0', ')', "Digit0", 48),
    (' ', ' ', "Space", 32),
];

const NAMED: &[(&str, &str, u32)] = &[
    ("Enter", "Enter", 13),
    ("Tab", "Tab", 9),
    ("Escape", "Escape", 27),
    ("Backspace", "Backspace", 8),
    ("Delete", "Delete", 46),
    ("Insert", "Insert", 45),
    ("Home", "Home", 36),
    ("End", "End", 35),
    ("PageUp", "PageUp", 33),
    ("PageDown", "PageDown", 34),
    ("ArrowLeft", "ArrowLeft", 37),
    ("ArrowUp", "ArrowUp", 38),
    ("ArrowRight", "ArrowRight", 39),
    ("ArrowDown", "ArrowDown", 40),
    ("ContextMenu", "ContextMenu", 93),
    ("Alt", "AltLeft", 18),
    ("Control", "ControlLeft", 17),
    ("Meta", "MetaLeft", 91),
    ("Shift", "ShiftLeft", 16),
    ("AltGraph", "AltRight", 225),
    ("F1", "F1", 112),
    ("F2", "F2", 113),
    ("F3", "F3", 114),
    ("F4", "F4", 115),
    ("F5", "F5", 116),
    ("F6", "F6", 117),
    ("F7", "F7", 118),
    ("F8", "F8", 119),
    ("F9", "F9", 120),
    ("F10", "F10", 121),
    ("F11", "F11", 122),
    ("F12", "F12", 123),
    ("F13", "F13", 124),
    ("F14", "F14", 125),
    ("F15", "F15", 126),
    ("F16", "F16", 127),
    ("F17", "F17", 128),
    ("F18", "F18", 129),
    ("F19", "F19", 130),
    ("F20", "F20", 131),
    ("F21", "F21", 132),
    ("F22", "F22", 133),
    ("F23", "F23", 134),
    ("F24", "F24", 135),
];

impl Key {
    /// The key that types `character`; `None` where the keyboard has none.
    pub(super) fn typing(character: char) -> Option<Key> {
        let key = |code: String, virtual_code: u32, shifted: bool| {
            Some(Key { key: character.into(), code, virtual_code, text: character.into(), shifted })
        };
        if character == '\n' {
            return Key::named("Enter");
        }
        if character.is_ascii_alphabetic() {
            let upper = character.to_ascii_uppercase();
            return key(format!("Key{upper}"), upper.into(), character == upper);
        }
        let (_, shifted, code, virtual_code) =
            PUNCTUATION.iter().find(|(plain, shifted, ..)| character == *plain || character == *shifted)?;
        key((*code).to_owned(), *virtual_code, character == *shifted && character != ' ')
    }

    /// The same key as part of a chord, where letters are named in upper case and Shift is said.
    pub(super) fn in_chord(mut self, shift: bool) -> Key {
        if self.code.starts_with("Key") {
            self.key = if shift { self.key.to_ascii_uppercase() } else { self.key.to_ascii_lowercase() };
            self.text.clone_from(&self.key);
            self.shifted = shift;
        } else if shift
            && let Some((_, upper, ..)) = PUNCTUATION.iter().find(|(.., code, _)| *code == self.code)
        {
            self.key = (*upper).into();
            self.text.clone_from(&self.key);
        }
        self
    }

    /// The key that has that name in `KeyboardEvent.code`, among those that type something.
    fn coded(code: &str) -> Option<Key> {
        if let Some((plain, ..)) = PUNCTUATION.iter().find(|(.., known, _)| *known == code) {
            return Key::typing(*plain);
        }
        let one = |prefix: &str| {
            let mut rest = code.strip_prefix(prefix)?.chars();
            rest.next().filter(|_| rest.next().is_none())
        };
        if let Some(letter) = one("Key").filter(char::is_ascii_uppercase) {
            return Key::typing(letter.to_ascii_lowercase());
        }
        // As with NumLock on.
        let digit = one("Numpad")?.to_digit(10)?;
        let text = digit.to_string();
        Some(Key {
            key: text.clone(),
            code: code.to_owned(),
            virtual_code: digit.saturating_add(96),
            text,
            shifted: false,
        })
    }

    /// The key with that name: a name of `KeyboardEvent.key` or `KeyboardEvent.code`, or the one
    /// character it types.
    pub(super) fn named(name: &str) -> Option<Key> {
        if let Some(key) = Key::coded(name) {
            return Some(key);
        }
        let mut characters = name.chars();
        if let (Some(one), None) = (characters.next(), characters.next()) {
            return if one == '\n' { None } else { Key::typing(one) };
        }
        let (key, code, virtual_code) =
            NAMED.iter().find(|(known, code, _)| *known == name || *code == name)?;
        let text = if name == "Enter" { "\r" } else { "" };
        Some(Key {
            key: (*key).to_owned(),
            code: (*code).to_owned(),
            virtual_code: *virtual_code,
            text: text.to_owned(),
            shifted: false,
        })
    }
}

/// The names of a chord's modifiers, and its key: `Control+A` gives `["Control"]` and `A`,
/// `Control++` gives `["Control"]` and `+`.
pub(super) fn chord(text: &str) -> Option<(Vec<&str>, &str)> {
    let (modifiers, key) = match text.strip_suffix('+') {
        Some("") => ("", "+"),
        Some(before) => (before.strip_suffix('+')?, "+"),
        None => text.rsplit_once('+').unwrap_or(("", text)),
    };
    // The browser runs on the same system as this.
    let control_or_meta = if cfg!(target_os = "macos") { "Meta" } else { "Control" };
    let known = |name| if name == "ControlOrMeta" { control_or_meta } else { name };
    let names: Vec<&str> =
        if modifiers.is_empty() { Vec::new() } else { modifiers.split('+').map(known).collect() };
    names.iter().all(|name| matches!(*name, "Alt" | "Control" | "Meta" | "Shift")).then_some((names, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_has_a_key_that_types_it() {
        for character in ' '..='~' {
            let key = Key::typing(character).expect("a key");
            assert_eq!(key.text, character.to_string());
        }
        assert_eq!(Key::typing('中'), None);
        assert_eq!(Key::typing('\t'), None);
        assert!(Key::typing('A').expect("a key").shifted);
        assert!(!Key::typing(' ').expect("a key").shifted);
    }

    #[test]
    fn a_chord_comes_apart_at_its_plus_signs() {
        assert_eq!(chord("Enter"), Some((vec![], "Enter")));
        assert_eq!(chord("Control+A"), Some((vec!["Control"], "A")));
        assert_eq!(chord("Control+Shift+ArrowLeft"), Some((vec!["Control", "Shift"], "ArrowLeft")));
        assert_eq!(chord("+"), Some((vec![], "+")));
        assert_eq!(chord("Control++"), Some((vec!["Control"], "+")));
        assert_eq!(chord("Hyper+A"), None);
        assert_eq!(chord("a+"), None);
    }

    #[test]
    fn shift_in_a_chord_gives_the_shifted_character() {
        for (plain, shifted) in [('1', '!'), ('/', '?'), ('a', 'A'), ('A', 'A'), ('!', '!'), (' ', ' ')] {
            let key = Key::typing(plain).expect("a key").in_chord(true);
            assert_eq!((key.key, key.text), (shifted.to_string(), shifted.to_string()));
        }
    }

    #[test]
    fn names_of_keys_are_those_of_the_dom() {
        assert_eq!(Key::named("Enter").map(|key| key.text), Some("\r".to_owned()));
        assert_eq!(Key::named("Space").map(|key| key.code), Some("Space".to_owned()));
        assert_eq!(Key::named("F5").map(|key| key.virtual_code), Some(116));
        assert_eq!(Key::named("F24").map(|key| key.virtual_code), Some(135));
        assert_eq!(Key::named("ShiftLeft").map(|key| key.key), Some("Shift".to_owned()));
        assert_eq!(Key::named("KeyA"), Key::typing('a'));
        assert_eq!(Key::named("Digit1"), Key::typing('1'));
        assert_eq!(
            Key::named("Numpad7").map(|key| (key.text, key.virtual_code)),
            Some(("7".to_owned(), 103))
        );
        for nonsense in ["Keya", "KeyAB", "Key", "Numpad", "Numpad12", "Numpadx"] {
            assert_eq!(Key::named(nonsense), None);
        }
        assert_eq!(Key::named("Nonsense"), None);
        assert_eq!(Key::named(""), None);
    }
}
