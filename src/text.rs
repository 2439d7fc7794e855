//! Text from outside made safe to look at: what a terminal would act on is shown, not sent.

/// Shows control characters and bidi controls as `\u{…}`; everything else stays as it is.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => safe.push(' '),
            hidden if hidden.is_control() || is_bidi_control(hidden) => {
                safe.extend(hidden.escape_unicode());
            }
            shown => safe.push(shown),
        }
    }
    safe
}

/// Whether the character changes the direction of what follows (Unicode Bidi_Control).
pub fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown() {
        assert_eq!(escape("a\u{1b}[31mb\u{202e}c\r\n"), "a\\u{1b}[31mb\\u{202e}c\\u{d}\\u{a}");
        assert_eq!(escape("Đà Nẵng 東京 🦀"), "Đà Nẵng 東京 🦀");
    }
}
