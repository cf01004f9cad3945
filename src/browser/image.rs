/// The width and height in pixels of a PNG or JPEG in base64, from its header.
pub(super) fn size(base64: &str) -> Option<(u32, u32)> {
    // A JPEG says its size after its tables, well within its first 32 KiB.
    let head = decode(base64.as_bytes().iter().copied().take(44_000));
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((number(head.get(16..20)?), number(head.get(20..24)?)));
    }
    if !head.starts_with(b"\xff\xd8") {
        return None;
    }
    let mut at: usize = 2;
    loop {
        let segment = head.get(at..)?;
        let (marker, length) = (*segment.get(1)?, number(segment.get(2..4)?));
        if matches!(marker, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf) {
            return Some((number(segment.get(7..9)?), number(segment.get(5..7)?)));
        }
        at = at.checked_add(2)?.checked_add(usize::try_from(length).ok()?)?;
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn decode(text: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0u32, 0u32);
    for character in text {
        let six = match character {
            b'A'..=b'Z' => character.wrapping_sub(b'A'),
            b'a'..=b'z' => character.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => character.wrapping_sub(b'0').wrapping_add(52),
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        held = (held << 6) | u32::from(six);
        bits = bits.wrapping_add(6);
        if bits >= 8 {
            bits = bits.wrapping_sub(8);
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_says_its_size() {
        assert_eq!(size("iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6B"), Some((2, 3)));
    }

    #[test]
    fn what_is_no_picture_has_no_size() {
        for text in ["", "AAAA", "/9j/", "iVBORw0KGgo=", "\u{e9}"] {
            assert_eq!(size(text), None);
        }
    }
}
