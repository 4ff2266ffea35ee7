//! Description of messages as rows: number, name and fields. Reader, writer and names follow from it.

/// Defines an enum of messages with its reader and writer.
macro_rules! messages {
    (
        $(#[$doc:meta])* $Message:ident;
        $($(#[$row_doc:meta])* $number:literal $name:literal $Row:ident
            $({ $($(#[$field_doc:meta])* $field:ident: $kind:ty),* })?
            $(($only:ident: $only_kind:ty))?;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $Message<'a> {
            $($(#[$row_doc])* $Row $({ $($(#[$field_doc])* $field: $kind),* })? $(($only_kind))?,)*
        }

        impl<'a> $Message<'a> {
            /// Numbers and names of all messages.
            pub const TABLE: &'static [(u8, &'static str)] = &[$(($number, $name)),*];

            /// Returns the number of the message.
            #[must_use]
            pub const fn number(&self) -> u8 {
                match self {
                    $(Self::$Row { .. } => $number,)*
                }
            }

            /// Returns the name of a number.
            #[must_use]
            pub const fn name_of(number: u8) -> Option<&'static str> {
                match number {
                    $($number => Some($name),)*
                    _ => None,
                }
            }

            /// Calls `visit` with name and value of each part.
            pub fn describe(&self, visit: $crate::quakeworld::describe::Visit<'_, 'a>) {
                use $crate::quakeworld::describe::Described as _;
                match self {
                    $(Self::$Row $({ $($field),* })? $(($only))? => {
                        $($($field.describe(stringify!($field), visit);)*)?
                        $($only.describe(stringify!($only), visit);)?
                    })*
                }
            }

            fn read_fields(
                number: u8,
                reader: &mut $crate::quakeworld::bytes::Reader<'a>,
            ) -> $crate::quakeworld::bytes::ReadResult<Self> {
                Ok(match number {
                    $($number => Self::$Row
                        $({ $($field: reader.read::<$kind>()?),* })?
                        $((reader.read::<$only_kind>()?))?,)*
                    _ => {
                        let fault = $crate::quakeworld::bytes::ReadFault::Unknown;
                        return Err(fault("message", i64::from(number)));
                    }
                })
            }

            fn write_fields(&self, writer: &mut $crate::quakeworld::bytes::Writer<'_>) {
                match self {
                    $(Self::$Row $({ $($field),* })? $(($only))? => {
                        $($(writer.write($field);)*)?
                        $(writer.write($only);)?
                    })*
                }
            }
        }

        impl<'a> $crate::quakeworld::bytes::Element<'a> for $Message<'a> {
            fn read(
                reader: &mut $crate::quakeworld::bytes::Reader<'a>,
            ) -> $crate::quakeworld::bytes::ReadResult<Self> {
                let number = reader.read()?;
                Self::read_fields(number, reader)
            }

            fn write(&self, writer: &mut $crate::quakeworld::bytes::Writer<'_>) {
                writer.write(&self.number());
                self.write_fields(writer);
            }
        }
    };
}
pub(super) use messages;
