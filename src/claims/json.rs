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
mod tests;
