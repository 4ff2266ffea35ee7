//! Values, strings and deltas as single encodings.
//!
//! A row spells its writes in words. A small interpreter turns them into steps, and every unknown word
//! is an error, so that no row stays unchecked.

use std::collections::HashMap;

use fragd::{
    model::{Buttons, EntityNum, EntityState, PlayerState, UserCmd},
    wire::{
        bits::{BitReader, BitWriter, safe_byte},
        entity,
        field_tables::{ENTITY_68, PLAYER_68},
        fields::FieldKind,
        player, usercmd,
    },
};

use crate::{
    recorded_states::{entity_field, player_field},
    vectors::{from_hex, table, to_hex},
};

/// One thing written.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a handful at a time")]
enum WriteAction {
    Byte(u8),
    Short(i16),
    Long(i32),
    /// A negative width is sign-extended by its reader.
    Bits {
        value: i64,
        width: i32,
    },
    Text(Vec<u8>),
    Usercmd {
        key: u32,
        from: UserCmd,
        to: UserCmd,
    },
    Entity {
        from: EntityState,
        to: EntityState,
        force: bool,
    },
    Removal(EntityNum),
    Player {
        from: PlayerState,
        to: PlayerState,
    },
}

impl WriteAction {
    fn write(&self, writer: &mut BitWriter) {
        match self {
            Self::Byte(value) => writer.byte(*value),
            Self::Short(value) => writer.short(*value),
            Self::Long(value) => writer.long(*value),
            Self::Bits { value, width } => writer.bits(*value as u32, width.unsigned_abs()),
            Self::Text(text) => writer.string(text),
            Self::Usercmd { key, from, to } => usercmd::write_delta(writer, *key, from, to),
            Self::Entity { from, to, force } => entity::write_delta(writer, from, to, *force),
            Self::Removal(number) => entity::write_removal(writer, number.index() as i32),
            Self::Player { from, to } => player::write_delta(writer, from, to),
        }
    }

    /// Reads what the step wrote, checks it, and returns the step that writes what was read.
    fn read(&self, reader: &mut BitReader<'_>) -> Self {
        match self {
            Self::Byte(value) => {
                assert_eq!(reader.byte(), Ok(*value));
                self.clone()
            }
            Self::Short(value) => {
                assert_eq!(reader.short(), Ok(*value));
                self.clone()
            }
            Self::Long(value) => {
                assert_eq!(reader.long(), Ok(*value));
                self.clone()
            }
            &Self::Bits { value, width } => {
                let unused = 32 - width.unsigned_abs();
                let high = reader.bits(width.unsigned_abs()).unwrap() << unused;
                let extended =
                    if width < 0 { high as i32 >> unused } else { (high >> unused) as i32 };
                assert_eq!(i64::from(extended), value);
                Self::Bits { value: i64::from(extended), width }
            }
            Self::Text(text) => {
                let read = reader.string().unwrap();
                assert_eq!(read.as_bytes(), text.iter().map(|&b| safe_byte(b)).collect::<Vec<_>>());
                Self::Text(read.into_bytes())
            }
            &Self::Usercmd { key, from, to } => {
                let read = usercmd::read_delta(reader, key, &from).unwrap();
                assert_eq!(read, to);
                Self::Usercmd { key, from, to: read }
            }
            &Self::Entity { from, to, force } => {
                let number = entity::read_number(reader).unwrap();
                let read = entity::read_delta(reader, &from, number).unwrap().unwrap();
                // The sign of zero is lost.
                let sent = to.words().map(|word| if word == 1 << 31 { 0 } else { word });
                assert_eq!(*read.words(), sent);
                Self::Entity { from, to: read, force }
            }
            &Self::Removal(number) => {
                assert_eq!(entity::read_number(reader), Ok(number));
                let from = EntityState::numbered(number);
                assert_eq!(entity::read_delta(reader, &from, number), Ok(None));
                Self::Removal(number)
            }
            &Self::Player { from, to } => {
                let read = player::read_delta(reader, &from).unwrap();
                assert_eq!(read.words(), to.words());
                Self::Player { from, to: read }
            }
        }
    }
}

#[test]
fn message_vectors_both_ways() {
    let mut known: HashMap<String, Vec<WriteAction>> = HashMap::new();
    for row in table("msg_vectors.csv") {
        let name = row.text("name");
        let words = row.text("operations");
        let steps = steps(words, &known).unwrap_or_else(|what| panic!("{name}: {what}: {words}"));
        assert!(!steps.is_empty(), "{name}");
        let bits: usize = row.number("total_bits");
        let check = |steps: &[WriteAction], what: &str| {
            let mut writer = BitWriter::new();
            steps.iter().for_each(|step| step.write(&mut writer));
            assert_eq!(writer.bit_len(), bits, "{name}: {what}");
            // Without written values no message exists.
            let message = if bits == 0 { &[] } else { writer.message() };
            assert_eq!(to_hex(message), row.text("hex"), "{name}: {what}");
            assert_eq!(message.len(), row.number::<usize>("message_bytes"), "{name}: {what}");
        };
        check(&steps, "written");
        if bits > 0 {
            let bytes = from_hex(row.text("hex"));
            let mut reader = BitReader::new(&bytes);
            let read: Vec<_> = steps.iter().map(|step| step.read(&mut reader)).collect();
            assert_eq!(reader.bit_position(), bits, "{name}");
            check(&read, "written again");
        }
        known.insert(name.to_owned(), steps);
    }
}

type Parsed<T> = Result<T, String>;

fn unknown<T>(what: &str) -> Parsed<T> {
    Err(format!("{what:?} is not understood"))
}

/// The steps that `words` say. Rows before this one are `known` by their names.
fn steps(words: &str, known: &HashMap<String, Vec<WriteAction>>) -> Parsed<Vec<WriteAction>> {
    // A row may be named by the beginning of its name.
    let of = |name: &str| {
        let begins = |row: &&String| row.starts_with(&format!("{name}_"));
        let row = known.get(name).or_else(|| known.get(known.keys().find(begins)?));
        row.cloned().ok_or_else(|| format!("no row {name:?} yet"))
    };
    if let Some(names) = words.strip_suffix(" in one bit stream") {
        return Ok(names.split(" then ").map(of).collect::<Parsed<Vec<_>>>()?.concat());
    }
    let last_of = |name: &str| of(name).map(|steps| steps.last().cloned());
    match words.split_once(' ') {
        Some((key, rest)) if key.starts_with("key=") => usercmd_step(&key[4..], rest, last_of),
        Some(("entity", rest)) => entity_step(rest, last_of),
        Some(("playerstate" | "from", _)) => player_step(words, last_of),
        _ => return calls(words),
    }
    .map(|step| vec![step])
}

/// `byte(1);string(text)` and an optional note behind a space.
fn calls(words: &str) -> Parsed<Vec<WriteAction>> {
    let mut rest = words;
    let mut steps = Vec::new();
    while !rest.is_empty() && !rest.starts_with(' ') {
        let (name, behind) = rest.split_once('(').ok_or("a call has no bracket")?;
        let end = behind
            .find(");")
            .or(behind.ends_with(')').then(|| behind.len() - 1))
            .or(behind.find(") "))
            .ok_or("a bracket stays open")?;
        let arguments = &behind[..end];
        // A number may be followed by its name.
        let first = arguments.split([',', ' ']).next().unwrap_or_default();
        steps.push(match name {
            "byte" => WriteAction::Byte(integer(first)? as u8),
            "short" => WriteAction::Short(integer(first)? as i16),
            "long" => WriteAction::Long(integer(first)? as i32),
            "bits" => {
                let width = arguments.split(',').nth(1).ok_or("no width")?;
                WriteAction::Bits { value: integer(first)?, width: integer(width)? as i32 }
            }
            "string" => WriteAction::Text(text(arguments)?),
            _ => return unknown(name),
        });
        rest = behind[end + 1..].trim_start_matches(';');
    }
    Ok(steps)
}

fn integer(text: &str) -> Parsed<i64> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{text:?} is no number"))
}

/// Text as it is, with `<LF>` and `\\`, or `bytes` in hexadecimal.
fn text(words: &str) -> Parsed<Vec<u8>> {
    match words.strip_prefix("bytes ") {
        Some(bytes) => {
            bytes.split(' ').map(|hex| Ok(integer(&format!("0x{hex}"))? as u8)).collect()
        }
        None => Ok(words.replace("<LF>", "\n").replace("\\\\", "\\").into_bytes()),
    }
}

/// `from=zero to={serverTime 5 angles 1 2 3 fwd 0 ...}`, or `to=same with serverTime 7` or `+7`.
fn usercmd_step(
    key: &str,
    words: &str,
    last_of: impl Fn(&str) -> Parsed<Option<WriteAction>>,
) -> Parsed<WriteAction> {
    let (from, to) = words.split_once(" to=").ok_or("no to=")?;
    let from = match from.strip_prefix("from=").ok_or("no from=")? {
        "zero" => UserCmd::default(),
        name => match last_of(name)? {
            Some(WriteAction::Usercmd { to, .. }) => to,
            _ => return unknown(name),
        },
    };
    let mut to_state = from;
    if let Some(time) = to.strip_prefix("same with serverTime ") {
        to_state.server_time = match time.strip_prefix('+') {
            Some(step) => from.server_time + integer(step)? as i32,
            None => integer(time)? as i32,
        };
    } else {
        let inside = to.strip_prefix('{').and_then(|to| to.strip_suffix('}')).ok_or("no {}")?;
        let mut words = inside.split(' ');
        while let Some(name) = words.next() {
            let mut value = || integer(words.next().unwrap_or_default());
            match name {
                "serverTime" => to_state.server_time = value()? as i32,
                "angles" => {
                    to_state.angles = [value()? as i32, value()? as i32, value()? as i32];
                }
                "fwd" => to_state.forwardmove = value()? as i8,
                "right" => to_state.rightmove = value()? as i8,
                "up" => to_state.upmove = value()? as i8,
                "buttons" => to_state.buttons = Buttons(value()? as i32),
                "weapon" => to_state.weapon = value()? as u8,
                _ => return unknown(name),
            }
        }
    }
    Ok(WriteAction::Usercmd { key: integer(key)? as u32, from, to: to_state })
}

/// `67 removed`, `67 identical; force=1`, `67 from NAME: fields`.
fn entity_step(
    words: &str,
    last_of: impl Fn(&str) -> Parsed<Option<WriteAction>>,
) -> Parsed<WriteAction> {
    let (number, rest) = words.split_once(' ').ok_or("no number")?;
    let number = EntityNum::new(integer(number)? as usize).ok_or("no such entity")?;
    let nothing = EntityState::numbered(number);
    if rest == "removed" {
        return Ok(WriteAction::Removal(number));
    }
    if let Some(force) = rest.strip_prefix("identical; force=") {
        let force = integer(&force[..1])? != 0;
        return Ok(WriteAction::Entity { from: nothing, to: nothing, force });
    }
    let (from, fields) =
        rest.strip_prefix("from ").and_then(|rest| rest.split_once(": ")).ok_or("no from")?;
    let from = match from {
        "zero" => nothing,
        name => match last_of(name)? {
            Some(WriteAction::Entity { to, .. }) => to,
            _ => return unknown(name),
        },
    };
    let mut to = from;
    assign(fields, |name, value| *entity_field(&mut to, name) = value)?;
    Ok(WriteAction::Entity { from, to, force: false })
}

/// `playerstate null to all zero`, `from NAME to itself`, `from NAME: fields`.
fn player_step(
    words: &str,
    last_of: impl Fn(&str) -> Parsed<Option<WriteAction>>,
) -> Parsed<WriteAction> {
    let nothing = PlayerState::default();
    if words == "playerstate null to all zero" {
        return Ok(WriteAction::Player { from: nothing, to: nothing });
    }
    let rest = words.strip_prefix("from ").ok_or("no from")?;
    let (name, fields) = match rest.strip_suffix(" to itself") {
        Some(name) => (name, ""),
        None => rest.split_once(": ").ok_or("no fields")?,
    };
    let from = match name {
        "null" => nothing,
        name => match last_of(name)? {
            Some(WriteAction::Player { to, .. }) => to,
            _ => return unknown(name),
        },
    };
    let mut to = from;
    assign(fields, |name, value| *player_field(&mut to, name) = value)?;
    Ok(WriteAction::Player { from, to })
}

/// `name 1 name (1 2 3) name same name=-0.0 (bit pattern 0x80000000); ...`: `set` gets each field.
fn assign(words: &str, mut set: impl FnMut(&str, u32)) -> Parsed<()> {
    let words = words.replace(['=', ';'], " ");
    let mut tokens = tokens(&words)?.into_iter().peekable();
    let mut vector = String::new();
    while let Some(name) = tokens.next() {
        let value = tokens.next().ok_or_else(|| format!("{name} has no value"))?;
        if value.starts_with('(') {
            vector = value.trim_matches(['(', ')']).to_owned();
        }
        if value.starts_with('(') || value == "same" {
            for (i, value) in vector.split(' ').enumerate() {
                let name = format!("{name}[{i}]");
                set(&name, field_bits(&name, value)?);
            }
        } else if let Some(bits) = tokens.next_if(|next| next.starts_with("(bit pattern ")) {
            set(
                name,
                integer(bits.trim_start_matches("(bit pattern ").trim_end_matches(')'))? as u32,
            );
        } else {
            set(name, field_bits(name, value)?);
        }
    }
    Ok(())
}

/// Words, of which a pair of brackets holds together several.
fn tokens(words: &str) -> Parsed<Vec<&str>> {
    let mut tokens = Vec::new();
    let mut rest = words.trim();
    while !rest.is_empty() {
        let end = match rest.starts_with('(') {
            true => rest.find(')').ok_or("a bracket stays open")? + 1,
            false => rest.find(' ').unwrap_or(rest.len()),
        };
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    Ok(tokens)
}

/// A number as the bits of that field.
fn field_bits(name: &str, value: &str) -> Parsed<u32> {
    let mut fields = ENTITY_68.fields.iter().chain(PLAYER_68.fields);
    let is_float = fields.any(|field| field.name == name && field.kind == FieldKind::Float);
    match is_float {
        true => value.parse().map(f32::to_bits).map_err(|_| format!("{value:?} is no float")),
        false => integer(value).map(|value| value as u32),
    }
}
