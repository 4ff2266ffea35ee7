//! Counter tables: each row is a counter, its metric name and its help text.
//!
//! A table makes an enum of the counters and a type for their values. Invariant: the order of the rows is that
//! of the metrics.

/// Makes an enum of counters and a type for their values.
macro_rules! counter_table {
    (
        $(#[$counter_doc:meta])* $counter_vis:vis enum $Counter:ident;
        $(#[$values_doc:meta])* $vis:vis struct $Counters:ident;
        $($row:ident, $name:literal, $help:literal;)+
    ) => {
        $(#[$counter_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $counter_vis enum $Counter {
            $(#[doc = $help] $row,)+
        }

        impl $Counter {
            /// All counters, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$row),+];

            /// Metric name with its labels, e.g. `q3_packets_total{dir="in"}`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$row => $name),+ }
            }

            /// Help text of the metric.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$row => $help),+ }
            }
        }

        $(#[$values_doc])*
        #[derive(Clone, Debug)]
        $vis struct $Counters([u64; $Counter::ALL.len()]);

        impl Default for $Counters {
            fn default() -> Self {
                Self([0; $Counter::ALL.len()])
            }
        }

        impl $Counters {
            /// Adds one.
            $vis fn bump(&mut self, counter: $Counter) {
                self.add(counter, 1);
            }

            /// Adds `count`, saturating.
            $vis fn add(&mut self, counter: $Counter, count: u64) {
                let value = &mut self.0[counter as usize];
                *value = value.saturating_add(count);
            }

            /// Value of a counter.
            #[must_use]
            $vis const fn get(&self, counter: $Counter) -> u64 {
                self.0[counter as usize]
            }

            /// All counters with their values, in the order of the table.
            $vis fn iter(&self) -> impl Iterator<Item = ($Counter, u64)> {
                $Counter::ALL.iter().map(|&counter| (counter, self.get(counter)))
            }

            /// All counters as metric samples.
            $vis fn samples(&self) -> impl Iterator<Item = $crate::observe::Sample> {
                self.iter().map(|(counter, value)| $crate::observe::Sample {
                    name: counter.name().into(),
                    help: counter.help(),
                    value: $crate::observe::Value::Counter(value),
                })
            }
        }
    };
}

pub(crate) use counter_table;
