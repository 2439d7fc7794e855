//! A strict JSON reader (RFC 8259) for answers that nobody vouches for. It keeps the order of keys
//! and takes numbers by their grammar alone. Faults are reported in a fixed order of kinds, not of
//! places: syntax, trailing text, depth, strings, duplicate keys; so a text that is no JSON value at
//! all is a syntax fault however deep it nests. It takes linear time and recurses 16 deep at most.

/// How deep values may nest.
pub const MAX_DEPTH: usize = 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Number(String),
    /// A string, its escapes resolved.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order of its keys.
    Object(Vec<(String, Json)>),
}

/// Why a text is no acceptable JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// It is no JSON value.
    Syntax,
    /// Something follows the value.
    Trailing,
    /// It nests too deep.
    Depth,
    /// A string holds half of a surrogate pair.
    LoneSurrogate,
    /// An object has a key twice.
    DuplicateKey,
}

/// Reads one value and nothing else.
pub fn parse(text: &str) -> Result<Json, JsonFault> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, lone_surrogate: false };
    let depth = scanner.skip_value().ok_or(JsonFault::Syntax)?;
    scanner.skip_space();
    if scanner.at < scanner.bytes.len() {
        return Err(JsonFault::Trailing);
    }
    if depth > MAX_DEPTH {
        return Err(JsonFault::Depth);
    }
    if scanner.lone_surrogate {
        return Err(JsonFault::LoneSurrogate);
    }
    let mut builder = Builder {
        scanner: Scanner { bytes: text.as_bytes(), at: 0, lone_surrogate: false },
        text,
        duplicate: false,
    };
    let value = builder.value().ok_or(JsonFault::Syntax)?;
    match builder.duplicate {
        true => Err(JsonFault::DuplicateKey),
        false => Ok(value),
    }
}

/// Walks over the grammar without keeping anything.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    lone_surrogate: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Array,
    Object,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, expected: u8) -> Option<()> {
        (self.peek() == Some(expected)).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips one value and tells how deep it nests.
    fn skip_value(&mut self) -> Option<usize> {
        let mut open: Vec<Group> = Vec::new();
        let mut deepest = 0;
        loop {
            let begun = self.begin()?;
            if let Some(group) = begun {
                open.push(group);
                deepest = deepest.max(open.len());
                if !self.closes(group) {
                    self.key_of(group)?;
                    continue;
                }
                open.pop();
            }
            if !self.next_item(&mut open)? {
                return Some(deepest);
            }
        }
    }

    /// Enters a group, or skips a scalar.
    fn begin(&mut self) -> Option<Option<Group>> {
        self.skip_space();
        match self.peek()? {
            b'{' => {
                self.at += 1;
                Some(Some(Group::Object))
            }
            b'[' => {
                self.at += 1;
                Some(Some(Group::Array))
            }
            _ => self.scalar().map(|()| None),
        }
    }

    /// Leaves the group if it ends here.
    fn closes(&mut self, group: Group) -> bool {
        self.skip_space();
        let end = match group {
            Group::Array => b']',
            Group::Object => b'}',
        };
        self.take(end).is_some()
    }

    /// In an object, skips a key and its colon.
    fn key_of(&mut self, group: Group) -> Option<()> {
        if group == Group::Object {
            self.skip_space();
            self.string()?;
            self.skip_space();
            self.take(b':')?;
        }
        Some(())
    }

    /// After a value: leaves groups that end and stands before the next item, if there is one.
    fn next_item(&mut self, open: &mut Vec<Group>) -> Option<bool> {
        while let Some(&group) = open.last() {
            if self.closes(group) {
                open.pop();
                continue;
            }
            self.take(b',')?;
            self.key_of(group)?;
            return Some(true);
        }
        Some(false)
    }

    fn scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        rest.starts_with(word).then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b'-');
        let (start, zero_leads) = (self.at, self.peek()? == b'0');
        self.digits()?;
        // `01` is one malformed number, not a zero with something behind it.
        if zero_leads && self.at - start > 1 {
            return None;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.take(b'\\')?;
        match self.peek()? {
            b'u' => {
                self.at += 1;
                let unit = self.four_digits()?;
                self.pair(unit)
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Some(())
            }
            _ => None,
        }
    }

    /// After a UTF-16 unit: takes the second half of a surrogate pair, or notes that it is missing.
    fn pair(&mut self, unit: u16) -> Option<()> {
        match unit {
            0xd800..=0xdbff => {
                let before = self.at;
                if self.word(b"\\u").is_some() {
                    if let 0xdc00..=0xdfff = self.four_digits()? {
                        return Some(());
                    }
                    self.at = before;
                }
                self.lone_surrogate = true;
            }
            0xdc00..=0xdfff => self.lone_surrogate = true,
            _ => {}
        }
        Some(())
    }

    fn four_digits(&mut self) -> Option<u16> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        let all_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(digits).ok().filter(|_| all_hexadecimal)?;
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// Builds the value of a text that the scanner has accepted: its depth is limited.
struct Builder<'a> {
    scanner: Scanner<'a>,
    text: &'a str,
    duplicate: bool,
}

impl Builder<'_> {
    fn value(&mut self) -> Option<Json> {
        self.scanner.skip_space();
        let start = self.scanner.at;
        match self.scanner.begin()? {
            Some(Group::Array) => self.array(),
            Some(Group::Object) => self.object(),
            None => {
                let written = self.text.get(start..self.scanner.at)?;
                Some(match written.as_bytes().first()? {
                    b'"' => Json::Text(unescape(written)?),
                    b't' => Json::Bool(true),
                    b'f' => Json::Bool(false),
                    b'n' => Json::Null,
                    _ => Json::Number(written.to_owned()),
                })
            }
        }
    }

    fn array(&mut self) -> Option<Json> {
        let mut items = Vec::new();
        while !self.scanner.closes(Group::Array) {
            if !items.is_empty() {
                self.scanner.take(b',')?;
            }
            items.push(self.value()?);
        }
        Some(Json::Array(items))
    }

    fn object(&mut self) -> Option<Json> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut known = std::collections::HashSet::new();
        while !self.scanner.closes(Group::Object) {
            if !entries.is_empty() {
                self.scanner.take(b',')?;
                self.scanner.skip_space();
            }
            let start = self.scanner.at;
            self.scanner.string()?;
            let key = unescape(self.text.get(start..self.scanner.at)?)?;
            self.scanner.skip_space();
            self.scanner.take(b':')?;
            self.duplicate |= !known.insert(key.clone());
            let value = self.value()?;
            entries.push((key, value));
        }
        Some(Json::Object(entries))
    }
}

/// The characters of a string as it is written, quotation marks included.
fn unescape(written: &str) -> Option<String> {
    let mut rest = written.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let (escape, after) = after.split_at_checked(1)?;
        rest = after;
        match escape {
            "b" => text.push('\u{8}'),
            "f" => text.push('\u{c}'),
            "n" => text.push('\n'),
            "r" => text.push('\r'),
            "t" => text.push('\t'),
            "u" => text.push(escaped_character(&mut rest)?),
            same => text.push_str(same),
        }
    }
    text.push_str(rest);
    Some(text)
}

/// The character of a `\u` escape, or of two that are a surrogate pair.
fn escaped_character(rest: &mut &str) -> Option<char> {
    let mut units = vec![unit(rest)?];
    if let 0xd800..=0xdbff = units[0] {
        *rest = rest.strip_prefix("\\u")?;
        units.push(unit(rest)?);
    }
    char::decode_utf16(units).next()?.ok()
}

fn unit(rest: &mut &str) -> Option<u16> {
    let (digits, after) = rest.split_at_checked(4)?;
    *rest = after;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn faults_are_found_in_the_order_of_their_kinds() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (text, fault) in [
            ("", JsonFault::Syntax),
            ("NaN", JsonFault::Syntax),
            ("[1,]", JsonFault::Syntax),
            ("{\"a\":1,}", JsonFault::Syntax),
            ("01", JsonFault::Syntax),
            ("[-01]", JsonFault::Syntax),
            ("- 1", JsonFault::Syntax),
            ("+1", JsonFault::Syntax),
            ("-Infinity", JsonFault::Syntax),
            ("\u{feff}{}", JsonFault::Syntax),
            ("\u{a0}{}", JsonFault::Syntax),
            ("'a'", JsonFault::Syntax),
            (r#""\ud80""#, JsonFault::Syntax),
            (r#""\ud800\u12""#, JsonFault::Syntax),
            (r#""\u+041""#, JsonFault::Syntax),
            ("truex", JsonFault::Trailing),
            ("{}{", JsonFault::Trailing),
            (r#"{"\udfff":1}"#, JsonFault::LoneSurrogate),
            (r#""\ud800\ud83e\udd80""#, JsonFault::LoneSurrogate),
            (r#"{"é":1,"\u00E9":2}"#, JsonFault::DuplicateKey),
            (r#"{"a":{"b":[{"":1,"":1}]}}"#, JsonFault::DuplicateKey),
            ("1.", JsonFault::Syntax),
            ("\"\u{1}\"", JsonFault::Syntax),
            (r#""\x""#, JsonFault::Syntax),
            ("{} x", JsonFault::Trailing),
            (r#"{"a":1,"a":2} x"#, JsonFault::Trailing),
            (&deep(17), JsonFault::Depth),
            (r#""\ud800""#, JsonFault::LoneSurrogate),
            (r#""\udc00\ud800""#, JsonFault::LoneSurrogate),
            (r#""\ud800\u0041""#, JsonFault::LoneSurrogate),
            (r#"[{"a":1,"\u0061":2}]"#, JsonFault::DuplicateKey),
            (r#"{"a":1,"a":"\ud800"}"#, JsonFault::LoneSurrogate),
        ] {
            assert_eq!(parse(text), Err(fault), "{text}");
        }
        assert!(parse(&deep(16)).is_ok());
        assert_eq!(parse(&"[".repeat(1 << 20)), Err(JsonFault::Syntax));
        assert_eq!(parse(&deep(1 << 18)), Err(JsonFault::Depth));
    }

    #[test]
    fn escapes_are_resolved() {
        let text = r#""\ud83e\udd80\u0040\n\/\\\"é""#;
        assert_eq!(parse(text), Ok(Json::Text("🦀@\n/\\\"é".into())));
        assert_eq!(parse("-1.5e+999"), Ok(Json::Number("-1.5e+999".into())));
    }

    fn document() -> impl Strategy<Value = serde_json::Value> {
        let scalar = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "\\PC{0,6}".prop_map(Into::into),
        ];
        scalar.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("\\PC{0,4}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn plain(json: &Json) -> serde_json::Value {
        match json {
            Json::Null => serde_json::Value::Null,
            Json::Bool(flag) => (*flag).into(),
            Json::Number(number) => serde_json::from_str(number).unwrap(),
            Json::Text(text) => text.as_str().into(),
            Json::Array(items) => items.iter().map(plain).collect(),
            Json::Object(entries) => serde_json::Value::Object(
                entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
            ),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(document in document()) {
            for text in [document.to_string(), format!("{document:#}")] {
                prop_assert_eq!(plain(&parse(&text).unwrap()), document.clone());
            }
        }

        #[test]
        fn it_accepts_and_refuses_as_another_reader_does(
            text in "[\\[\\]{}\",:0-9eE+.\\\\/utrfalsn \t\n-]{0,24}",
        ) {
            agrees(&text);
        }

        #[test]
        fn a_spoilt_document_is_judged_as_another_reader_does(
            document in document(),
            at in any::<prop::sample::Index>(),
            put in "[\\[\\]{}\",:0-9\\\\u\u{1}\u{feff}é🦀]{0,2}",
        ) {
            let mut text: Vec<char> = document.to_string().chars().collect();
            let at = at.index(text.len());
            text.splice(at..=at, put.chars());
            agrees(&text.into_iter().collect::<String>());
        }

        #[test]
        fn no_text_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn no_escape_makes_it_panic(text in r#"["\\ud8-9a-f🦀é]{0,40}"#) {
            let _ = parse(&format!("\"{text}\""));
        }
    }

    /// Compares with another reader, which takes the last of equal keys and limits numbers.
    fn agrees(text: &str) {
        let ours = parse(text);
        match serde_json::from_str::<serde_json::Value>(text) {
            Ok(other) => match ours {
                Ok(ours) => assert_eq!(plain(&ours), other, "{text}"),
                Err(fault) => assert_eq!(fault, JsonFault::DuplicateKey, "{text}"),
            },
            Err(error) if error.to_string().starts_with("number out of range") => {}
            Err(error) => match ours {
                Ok(_) | Err(JsonFault::DuplicateKey | JsonFault::Depth) => panic!("{text}: {error}"),
                Err(_) => {}
            },
        }
    }

    #[test]
    fn time_is_linear() {
        // A quadratic reader needs minutes for each of these.
        let count = 1 << 18;
        let keys: String = (0..count).map(|key| format!("\"{key}\":0,")).collect();
        for text in [
            format!("{{{keys}\"x\":0}}"),
            format!("\"{}\"", r"\ud83e\udd80\n".repeat(count)),
            format!("[{}0]", "[],".repeat(count)),
            format!("{}1", "1".repeat(count)),
        ] {
            assert!(parse(&text).is_ok());
        }
    }
}
