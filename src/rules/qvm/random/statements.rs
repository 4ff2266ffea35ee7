//! Random statements: code that leaves the operand stack as it was.

use super::{ENOUGH, Generator};
use crate::qvm::opcode::Opcode;

impl Generator<'_, '_> {
    /// Adds a statement. `nesting` bounds statements inside statements.
    pub(super) fn statement(&mut self, nesting: usize) {
        if self.code.len() > ENOUGH {
            return;
        }
        let is_flat = nesting == 0;
        match self.choices.below(20) {
            0..5 => self.store_local(),
            5..8 => self.store(),
            8 | 9 => {
                self.expression(3);
                self.plain(Opcode::Pop);
            }
            10 => self.block_copy(),
            11..13 if !is_flat => self.condition(nesting - 1),
            13..15 if !is_flat => self.counted_loop(nesting - 1),
            15 if !is_flat => self.skipped(nesting - 1),
            16 | 17 if !is_flat => self.switch(nesting - 1),
            18 => self.seldom(),
            _ => {
                let opcode = self.choices.pick(&[Opcode::Ignore, Opcode::Break]);
                self.plain(opcode);
            }
        }
    }

    fn statements(&mut self, nesting: usize) {
        for _ in 0..=self.choices.below(3) {
            self.statement(nesting);
        }
    }

    fn store_local(&mut self) {
        let offset = self.slot();
        self.emit(Opcode::Local, offset);
        self.expression(3);
        self.plain(Opcode::Store4);
    }

    fn store(&mut self) {
        self.address(2);
        self.expression(3);
        let opcode = self.choices.pick(&[Opcode::Store1, Opcode::Store2, Opcode::Store4]);
        self.plain(opcode);
    }

    fn block_copy(&mut self) {
        for _ in 0..2 {
            if self.choices.below(32) == 0 {
                self.expression(1);
            } else {
                let address = self.choices.below(4096) as i32;
                self.emit(Opcode::Const, address);
            }
        }
        let length = match self.choices.below(24) {
            0 => self.choices.word() & i32::MAX,
            1 => self.choices.below(65_536) as i32,
            _ => self.choices.below(100) as i32,
        };
        self.emit(Opcode::BlockCopy, length);
    }

    fn condition(&mut self, nesting: usize) {
        let end = self.label();
        self.comparison(2, end);
        self.statements(nesting);
        self.place(end);
    }

    /// Loop that counts a local down. Its statements may change the local, so it may not end.
    fn counted_loop(&mut self, nesting: usize) {
        let (start, offset) = (self.label(), self.slot());
        let count = 1 + self.choices.below(12) as i32;
        self.emit(Opcode::Local, offset);
        self.emit(Opcode::Const, count);
        self.plain(Opcode::Store4);
        self.place(start);
        self.statements(nesting);
        self.emit(Opcode::Local, offset);
        self.emit(Opcode::Local, offset);
        self.plain(Opcode::Load4);
        self.emit(Opcode::Const, 1);
        self.plain(Opcode::Sub);
        self.plain(Opcode::Store4);
        self.emit(Opcode::Local, offset);
        self.plain(Opcode::Load4);
        self.emit(Opcode::Const, 0);
        self.emit_label(Opcode::Gti, start);
    }

    /// Statements behind a constant jump. Nothing reaches them, unless they hold a computed target.
    fn skipped(&mut self, nesting: usize) {
        let end = self.label();
        self.emit_label(Opcode::Const, end);
        self.plain(Opcode::Jump);
        self.statements(nesting);
        self.place(end);
    }

    /// Computed jump to one of four cases through words of the data segment.
    fn switch(&mut self, nesting: usize) {
        let table = self.data.len();
        let cases = [0; 4].map(|_| self.label());
        let end = self.label();
        for (place, case) in (table..).zip(cases) {
            self.words.push((place, case));
            self.data.push(0);
        }
        self.expression(2);
        // Seldom an index that is not masked.
        if self.choices.below(8) > 0 {
            self.emit(Opcode::Const, 3);
            self.plain(Opcode::Band);
        }
        self.emit(Opcode::Const, 2);
        self.plain(Opcode::Lsh);
        self.emit(Opcode::Const, 4 * table as i32);
        self.plain(Opcode::Add);
        self.plain(Opcode::Load4);
        self.plain(Opcode::Jump);
        for case in cases {
            self.place(case);
            self.statements(nesting);
            if self.choices.below(3) > 0 {
                self.emit_label(Opcode::Const, end);
                self.plain(Opcode::Jump);
            }
        }
        self.place(end);
    }

    /// Early return, or a computed jump to any target.
    fn seldom(&mut self) {
        self.expression(2);
        if self.choices.below(6) == 0 {
            self.plain(Opcode::Bcom);
            self.plain(Opcode::Jump);
        } else {
            self.emit(Opcode::Leave, self.frame);
        }
    }
}
