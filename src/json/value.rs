use std::borrow::Cow;

/// 2^53 − 1: the largest magnitude of a number in a message (contract section 2).
pub const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;

/// A JSON value that borrows from the text it was read from wherever no escape forces a copy.
///
/// `Debug` shows the shape only: a value may hold typed text.
#[derive(Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A finite IEEE double.
    Number(f64),
    /// A string; its characters are Unicode scalar values.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// The members of a JSON object, in order of their keys' UTF-8 bytes, each key once.
#[derive(Clone, Default, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// Sorts `members`; of a key that occurs twice the last one wins and `true` is returned beside
    /// the object.
    pub(super) fn from_members(mut members: Vec<(Cow<'a, str>, Value<'a>)>) -> (Self, bool) {
        // A stable sort, so that equal keys keep the order of the text.
        members.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        let before = members.len();
        members.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        let duplicates = members.len() != before;
        (Object { members }, duplicates)
    }

    /// The member called `key`.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        let at = self.members.binary_search_by(|(name, _)| name.as_bytes().cmp(key.as_bytes())).ok()?;
        self.members.get(at).map(|(_, value)| value)
    }

    /// The members in order of their keys' UTF-8 bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(key, value)| (key.as_ref(), value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl<'a> Value<'a> {
    /// The member called `key`, where this is an object that has one.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_object()?.get(key)
    }

    /// The string, where this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, where this is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The number, where it is of integral value and at most 2^53 − 1 in magnitude; `1.0` and `1e0`
    /// count (contract section 3).
    pub fn as_integer(&self) -> Option<i64> {
        let number = self.as_f64()?;
        let whole = number.trunc() == number && number.abs() <= MAX_SAFE_INTEGER as f64;
        whole.then_some(number as i64)
    }

    /// The truth value, where this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The elements, where this is an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members, where this is an object.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The same value as `serde_json` keeps it. Integral numbers become integers.
    pub fn to_serde(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => (*truth).into(),
            Value::Number(number) => match self.as_integer() {
                Some(integer) => integer.into(),
                None => (*number).into(),
            },
            Value::String(text) => text.as_ref().into(),
            Value::Array(elements) => elements.iter().map(Value::to_serde).collect(),
            Value::Object(object) => object.to_serde(),
        }
    }
}

impl Object<'_> {
    /// The same object as `serde_json` keeps it.
    pub fn to_serde(&self) -> serde_json::Value {
        self.iter()
            .map(|(key, value)| (key.to_owned(), value.to_serde()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(_) => f.write_str("bool"),
            Value::Number(_) => f.write_str("number"),
            Value::String(text) => write!(f, "string of {} bytes", text.len()),
            Value::Array(elements) => write!(f, "array of {}", elements.len()),
            Value::Object(object) => object.fmt(f),
        }
    }
}

impl std::fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "object of {}", self.len())
    }
}
