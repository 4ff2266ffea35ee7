//! Names of functions, services and addresses in a listing.

use std::collections::{HashMap, HashSet};

use super::Decoded;
use crate::qvm::{
    assembler::{Label, Section, is_global_name},
    image::Image,
    opcode::Opcode,
};

/// Names by instruction and by address. Each name occurs once.
pub(super) struct Names<'a> {
    /// Names of functions by their first instruction.
    functions: HashMap<usize, String>,
    /// First instruction of the function that each instruction belongs to.
    owners: Vec<usize>,
    /// Whether an instruction is the target of a branch.
    targets: Vec<bool>,
    services: Vec<(i32, &'a str)>,
    /// Section, offset in it and name, ascending.
    addresses: Vec<(Section, usize, &'a str)>,
}

impl<'a> Names<'a> {
    pub(super) fn new(image: &Image, code: &[Decoded], symbols: &'a [Label]) -> Self {
        let mut taken = HashSet::new();
        let mut named = HashMap::new();
        let mut names = Self {
            functions: HashMap::new(),
            owners: Vec::with_capacity(code.len()),
            targets: vec![false; code.len()],
            services: Vec::new(),
            addresses: Vec::new(),
        };
        for symbol in symbols.iter().filter(|symbol| is_usable(&symbol.name)) {
            if symbol.section == Section::Code && symbol.value as i32 >= 0 {
                named.entry(symbol.value as usize).or_insert(symbol.name.as_str());
            } else if taken.insert(symbol.name.clone()) {
                names.add(image, symbol);
            }
        }
        names.services.sort_unstable_by(|a, b| b.cmp(a));
        names.services.dedup_by_key(|service| service.0);
        names.addresses.sort_unstable_by_key(|&(section, offset, _)| (section as u8, offset));
        names.functions(code, &named, &mut taken);
        names
    }

    fn add(&mut self, image: &Image, symbol: &'a Label) {
        let (start, len) = match symbol.section {
            Section::Code => return self.services.push((symbol.value as i32, &symbol.name)),
            Section::Data => (0, image.data.len()),
            Section::Literals => (image.data.len(), image.literals.len()),
            Section::Zero => (image.data.len() + image.literals.len(), image.zero_length as usize),
            Section::Jumps => return,
        };
        let offset = (symbol.value as usize).checked_sub(start).filter(|&offset| offset <= len);
        self.addresses.extend(offset.map(|offset| (symbol.section, offset, symbol.name.as_str())));
    }

    fn functions(
        &mut self,
        code: &[Decoded],
        named: &HashMap<usize, &'a str>,
        taken: &mut HashSet<String>,
    ) {
        let mut owner = 0;
        for (number, decoded) in code.iter().enumerate() {
            if decoded.opcode == Opcode::Enter {
                owner = number;
                let plain = format!("f{number}");
                // Static functions of two source files may share a name.
                let candidates =
                    named.get(&number).map(|name| [(*name).to_owned(), format!("{name}_{number}")]);
                let mut candidates = candidates.into_iter().flatten();
                let name = candidates.find(|name| !taken.contains(name)).unwrap_or(plain);
                taken.insert(name.clone());
                self.functions.insert(number, name);
            }
            self.owners.push(owner);
        }
        for (number, decoded) in code.iter().enumerate() {
            let next = code.get(number + 1).map(|next| next.opcode);
            let jumps = decoded.opcode == Opcode::Const && next == Some(Opcode::Jump);
            let target = decoded.operand as usize;
            if (jumps || decoded.opcode.is_branch()) && self.is_local(number, target) {
                self.targets[target] = true;
            }
        }
    }

    /// Name of the function that starts at an instruction.
    pub(super) fn function(&self, instruction: usize) -> Option<&str> {
        self.functions.get(&instruction).map(String::as_str)
    }

    pub(super) fn is_target(&self, instruction: usize) -> bool {
        self.targets[instruction]
    }

    /// Whether two instructions belong to one function.
    pub(super) fn is_local(&self, from: usize, to: usize) -> bool {
        self.owners.get(to).is_some_and(|owner| self.owners[from] == *owner)
    }

    /// Name of a call target: function, or service if negative.
    pub(super) fn callee(&self, target: i32) -> Option<&str> {
        match usize::try_from(target) {
            Ok(instruction) => self.function(instruction),
            Err(_) => {
                let found =
                    self.services.binary_search_by(|service| target.cmp(&service.0)).ok()?;
                Some(self.services[found].1)
            }
        }
    }

    /// Named services, number 0 first, as name and call target.
    pub(super) fn services(&self) -> impl Iterator<Item = (&str, i32)> {
        self.services.iter().map(|&(target, name)| (name, target))
    }

    /// Labels of a section by ascending offset.
    pub(super) fn labels(&self, section: Section) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        let labels = self.addresses.iter().filter(move |label| label.0 == section);
        labels.map(|&(_, offset, name)| (offset, name))
    }
}

/// Whether the assembler accepts a symbol and it cannot be taken for a generated name.
fn is_usable(name: &str) -> bool {
    let generated = name.strip_prefix('f').is_some_and(|rest| rest.parse::<u32>().is_ok());
    is_global_name(name) && !generated
}
