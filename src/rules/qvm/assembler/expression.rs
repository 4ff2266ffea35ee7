//! Numbers of the assembler: sums of integers, characters, floats and names.

use super::line::{Cursor, Name};

/// Maximum terms of one expression.
const MAX_TERMS: usize = 16;

/// Part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term<'a> {
    Number(i64),
    Name(Name<'a>),
}

/// Sum of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression<'a> {
    /// Sum of the numbers.
    number: i64,
    /// First name, apart from the others: most expressions have one at most.
    name: Option<(bool, Name<'a>)>,
    others: Vec<(bool, Name<'a>)>,
    /// Scope of local names.
    pub(super) scope: u32,
}

impl<'a> Expression<'a> {
    /// Parses a sum up to a comma or the end of the statement.
    pub(super) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, String> {
        let mut sum = Self { number: 0, name: None, others: Vec::new(), scope: 0 };
        for count in 0.. {
            if count == MAX_TERMS {
                return Err(format!("sum too long (max {MAX_TERMS} terms)"));
            }
            let is_negative = match (cursor.eat('-'), count) {
                (true, _) => true,
                (false, 0) => false,
                (false, _) if cursor.eat('+') => false,
                (false, _) => break,
            };
            match term(cursor, is_negative)? {
                Term::Number(number) => sum.number += number,
                Term::Name(name) if sum.name.is_none() => sum.name = Some((is_negative, name)),
                Term::Name(name) => sum.others.push((is_negative, name)),
            }
        }
        Ok(sum)
    }

    /// Value of a sum without names.
    pub(super) fn constant(&self) -> Option<i64> {
        self.name.is_none().then_some(self.number)
    }

    pub(super) fn in_scope(self, scope: u32) -> Self {
        Self { scope, ..self }
    }

    /// Value of the sum, with the values of names from a function.
    pub(super) fn evaluate(
        &self,
        value: impl Fn(Name<'a>) -> Result<i64, String>,
    ) -> Result<i64, String> {
        let mut sum = self.number;
        for (is_negative, name) in self.name.iter().chain(&self.others) {
            let value = value(*name)?;
            // Constants are sums themselves, so a chain of them may pass any limit.
            let next = if *is_negative { sum.checked_sub(value) } else { sum.checked_add(value) };
            sum = next.ok_or("number out of range")?;
        }
        Ok(sum)
    }
}

/// Parses a term, with its sign applied to numbers.
fn term<'a>(cursor: &mut Cursor<'a>, is_negative: bool) -> Result<Term<'a>, String> {
    let sign = if is_negative { -1 } else { 1 };
    if let Some(text) = cursor.number() {
        return number(text, is_negative).map(Term::Number);
    }
    if let Some(byte) = cursor.character()? {
        return Ok(Term::Number(sign * i64::from(byte)));
    }
    match cursor.name() {
        Some(name) => Ok(Term::Name(name)),
        None => Err(format!("not a number or name: {}", cursor.shown())),
    }
}

/// Value of an integer, or bits of a float that ends with `f`.
fn number(text: &str, is_negative: bool) -> Result<i64, String> {
    let invalid = || format!("invalid number: {}", text.chars().take(40).collect::<String>());
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let magnitude = if let Some(digits) = hex {
        i64::from_str_radix(digits, 16).map_err(|_| invalid())?
    } else if let Some(digits) = text.strip_suffix('f') {
        let float: f32 = digits.parse().map_err(|_| invalid())?;
        let float = if is_negative { -float } else { float };
        return Ok(i64::from(float.to_bits()));
    } else {
        text.parse().map_err(|_| invalid())?
    };
    if magnitude > i64::from(u32::MAX) {
        return Err(format!("number out of range: {text} (max 4294967295)"));
    }
    Ok(if is_negative { -magnitude } else { magnitude })
}
