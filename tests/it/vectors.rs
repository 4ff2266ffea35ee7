//! Reference vectors: location and parsing.
//!
//! `FRAGD_VECTORS` names another directory of the same layout; files missing there fall back to the
//! repository's own.

use std::{
    collections::HashMap,
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use fragd::wire::Protocol;
use fragd::{
    model::{Challenge, Qport, Sequence, Vec3},
    netchan::{Channel, ChannelSide, scramble::Scrambler},
};
use serde_json::Value;

/// The text of a vector file, unpacked when it is compressed.
pub(crate) fn read(name: &str) -> String {
    let path = places()
        .map(|dir| dir.join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no vector file {name}"));
    read_path(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Directories to look in, the first that has a file wins.
fn places() -> impl Iterator<Item = PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let other = env::var_os("FRAGD_VECTORS").map(PathBuf::from);
    // A directory may keep its files flat or, as the reference does, some of them in `vectors/`.
    other.into_iter().flat_map(|dir| [dir.join("vectors"), dir]).chain([own])
}

/// The bytes of a compressed vector file.
pub(crate) fn read_packed_bytes(name: &str) -> Vec<u8> {
    let path = places().map(|dir| dir.join(name)).find(|path| path.exists());
    let path = path.unwrap_or_else(|| panic!("no vector file {name}"));
    let mut bytes = Vec::new();
    let file = fs::File::open(&path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

fn read_path(path: &Path) -> std::io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// Names of the maps that there is a table `<kind>_<map>.csv.gz` for, ascending: those of the first
/// directory that has any.
pub(crate) fn maps_with(kind: &str) -> Vec<String> {
    let names_in = |dir: PathBuf| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let map = name.strip_suffix(".csv.gz")?.strip_prefix(kind)?.strip_prefix('_')?;
                // A longer kind, not a map of this one.
                let is_other = ["dp_", "models_", "openarena_"].iter().any(|k| map.starts_with(k));
                (!is_other).then(|| map.to_owned())
            })
            .collect();
        names.sort_unstable();
        names
    };
    let found = places().map(names_in).find(|names| !names.is_empty());
    found.unwrap_or_else(|| panic!("no vector file {kind}_*.csv.gz"))
}

/// A table of many rows without quotes; its first line names the columns.
pub(crate) struct Table {
    name: String,
    columns: HashMap<String, usize>,
    lines: Vec<String>,
}

/// One row of a [`Table`].
pub(crate) struct Line<'a> {
    table: &'a Table,
    /// Number in the file, from 1.
    pub(crate) number: usize,
    fields: Vec<&'a str>,
}

impl Table {
    /// The table of a vector file; it has at least one row.
    pub(crate) fn read(name: &str) -> Self {
        let text = read(name);
        let mut lines = text.lines().map(str::to_owned);
        let header = lines.next().unwrap_or_else(|| panic!("{name} is empty"));
        let columns = header.split(',').enumerate().map(|(at, name)| (name.to_owned(), at));
        let table =
            Self { name: name.to_owned(), columns: columns.collect(), lines: lines.collect() };
        assert!(!table.lines.is_empty(), "{name} has no rows");
        table
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Line<'_>> {
        self.lines.iter().enumerate().map(|(at, line)| {
            let fields: Vec<_> = line.split(',').collect();
            assert_eq!(fields.len(), self.columns.len(), "{}: line {}", self.name, at + 2);
            Line { table: self, number: at + 2, fields }
        })
    }
}

impl<'a> Line<'a> {
    /// A column as text.
    pub(crate) fn text(&self, column: &str) -> &'a str {
        let at = self.table.columns.get(column);
        at.map_or_else(|| panic!("{}: no column {column}", self.table.name), |&at| self.fields[at])
    }

    /// A column as a number.
    pub(crate) fn number<T: FromStr>(&self, column: &str) -> T {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{self}: {column}: {text:?} is no number that fits"))
    }

    /// A column of the eight digits of a single's bits.
    pub(crate) fn float(&self, column: &str) -> f32 {
        let text = self.text(column);
        let bits = u32::from_str_radix(text, 16).ok().filter(|_| text.len() == 8);
        f32::from_bits(bits.unwrap_or_else(|| panic!("{self}: {column}: {text:?} is no single")))
    }

    /// Three columns of singles.
    pub(crate) fn vec3(&self, columns: [&str; 3]) -> Vec3 {
        Vec3(columns.map(|column| self.float(column)))
    }
}

impl std::fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}", self.table.name, self.number)
    }
}

/// One line of a table, by the names of its columns.
#[derive(Debug)]
pub(crate) struct Row(HashMap<String, String>);

impl Row {
    /// A column as text.
    pub(crate) fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column} in {self:?}"))
    }

    /// A column as a number.
    pub(crate) fn number<T: FromStr>(&self, column: &str) -> T {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{column}: {text:?} is no number that fits"))
    }

    /// A column of the eight hexadecimal digits of a single's bits.
    pub(crate) fn float(&self, column: &str) -> f32 {
        let text = self.text(column);
        let bits = u32::from_str_radix(text, 16);
        f32::from_bits(bits.unwrap_or_else(|_| panic!("{column}: {text:?} are no bits")))
    }

    /// Three columns of bits.
    pub(crate) fn vec3(&self, columns: [&str; 3]) -> Vec3 {
        Vec3(columns.map(|column| self.float(column)))
    }

    /// A column of hexadecimal digits as bytes.
    pub(crate) fn bytes(&self, column: &str) -> Vec<u8> {
        from_hex(self.text(column))
    }
}

/// The rows of a table whose first line names its columns. There is at least one.
pub(crate) fn table(name: &str) -> Vec<Row> {
    let mut records = records(&read(name)).into_iter();
    let columns = records.next().unwrap_or_else(|| panic!("{name} is empty"));
    let rows: Vec<_> = records
        .map(|fields| {
            assert_eq!(fields.len(), columns.len(), "{name}: {fields:?}");
            Row(columns.iter().cloned().zip(fields).collect())
        })
        .collect();
    assert!(!rows.is_empty(), "{name} has no rows");
    rows
}

pub(crate) fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Server message in both framings: sent datagrams equal the vectors, and the client decodes the
/// message from them.
pub(crate) fn check_server_datagrams(case: &Value, message: &[u8]) {
    let id = case["id"].as_str().unwrap();
    let int = |key: &str| case[key].as_i64().unwrap();
    let challenge = Challenge(int("challenge") as i32);
    let sequence = Sequence(u32::try_from(int("sequence")).unwrap());
    // One character of the file is one byte, and a server's reader would store those as dots.
    let text = case["last_client_command"].as_str().unwrap();
    let text: Arc<str> = text.replace(|c: char| !c.is_ascii(), ".").into();
    for (protocol, key) in
        [(Protocol::IOQ3_71, "datagrams_native"), (Protocol::OA_71, "datagrams_compat")]
    {
        let expected: Vec<_> = case[key].as_array().unwrap().iter().collect();
        let mut server = Channel::new(ChannelSide::Server, protocol, challenge, Qport(0))
            .resumed(sequence, Sequence(0));
        let mut client = Channel::<()>::new(ChannelSide::Client, protocol, challenge, Qport(0))
            .resumed(Sequence(1), Sequence(sequence.0 - 1));
        let mut datagrams = vec![Vec::new()];
        let sent = server.send(message, &text, (), &mut datagrams[0]).unwrap().unwrap();
        assert_eq!(sent.sequence, sequence, "{id}");
        while server.is_busy() {
            let mut datagram = Vec::new();
            server.transmit_next(&mut datagram).unwrap();
            datagrams.push(datagram);
        }
        assert_eq!(datagrams.len(), expected.len(), "{id} {protocol}");
        let (mut received, mut arrived) = (Vec::new(), false);
        for (datagram, expected) in datagrams.iter().zip(expected) {
            assert_eq!(to_hex(datagram), expected.as_str().unwrap(), "{id} {protocol}");
            assert!(!arrived, "{id} {protocol}: datagrams behind the end");
            arrived = client.receive(datagram, &mut received).unwrap().is_some();
        }
        assert!(arrived, "{id} {protocol}");
        if protocol == Protocol::OA_71 {
            Scrambler::server(challenge, sequence).apply(text.as_bytes(), &mut received);
        }
        assert_eq!(received, message, "{id} {protocol}");
    }
}

/// Records of comma-separated text. A quoted field may hold commas, line ends and escaped quotes.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("never empty");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => records.push(std::mem::replace(&mut fields, vec![String::new()])),
            _ => field.push(c),
        }
    }
    assert!(!quoted, "a quote is never closed");
    if fields != [""] {
        records.push(fields);
    }
    records
}

#[test]
fn quoted_fields_are_read() {
    let read = records("a,\"b,\"\"c\"\"\n\",\r\n\"\",d,e");
    assert_eq!(read, [["a", "b,\"c\"\n", ""], ["", "d", "e"]]);
}
