//! Macros for enums whose values are sent as `i32`.
//!
//! The structs of `model` store raw integers, as received. An enum of this module converts with
//! [`TryFrom`], compares with a raw integer directly, and is written with `as i32` or [`From`].

/// Declares an enum of wire values: conversions, comparison with raw integers and a list of all variants.
macro_rules! wire_enum {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $($(#[$detail:meta])* $variant:ident = $number:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i32)]
        pub enum $name {
            $($(#[$detail])* $variant = $number,)+
        }

        impl $name {
            /// Every value, by ascending number.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
        }

        impl TryFrom<i32> for $name {
            type Error = $crate::bg::UnknownValue;

            fn try_from(number: i32) -> Result<Self, Self::Error> {
                match number {
                    $($number => Ok(Self::$variant),)+
                    _ => Err($crate::bg::UnknownValue { kind: stringify!($name), number }),
                }
            }
        }

        impl From<$name> for i32 {
            fn from(value: $name) -> Self {
                value as Self
            }
        }

        impl PartialEq<$name> for i32 {
            fn eq(&self, other: &$name) -> bool {
                *self == *other as Self
            }
        }

        impl PartialEq<i32> for $name {
            fn eq(&self, other: &i32) -> bool {
                *self as i32 == *other
            }
        }
    };
}

/// Implements indexing of a player state's arrays by an enum.
macro_rules! index_by {
    ($name:ident) => {
        impl ::std::ops::Index<$name> for [i32; 16] {
            type Output = i32;

            fn index(&self, index: $name) -> &i32 {
                &self[index as usize]
            }
        }

        impl ::std::ops::IndexMut<$name> for [i32; 16] {
            fn index_mut(&mut self, index: $name) -> &mut i32 {
                &mut self[index as usize]
            }
        }
    };
}

/// A number without a value in the enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind}: {number}")]
pub struct UnknownValue {
    /// Name of the enum.
    pub kind: &'static str,
    /// The number.
    pub number: i32,
}

#[cfg(test)]
mod tests {
    use super::UnknownValue;
    use crate::bg::{EntityType, Event, MeansOfDeath, Persistent, PmType, Powerup, Team, Weapon};

    #[test]
    fn enum_converts_to_number_and_back() {
        fn check<T: Copy + PartialEq + std::fmt::Debug + TryFrom<i32> + Into<i32>>(all: &[T])
        where
            T::Error: std::fmt::Debug,
        {
            let numbers: Vec<i32> = all.iter().map(|&value| value.into()).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
            for (&value, number) in all.iter().zip(numbers) {
                assert_eq!(T::try_from(number).expect("a value"), value);
            }
        }
        check(EntityType::ALL);
        check(Event::ALL);
        check(MeansOfDeath::ALL);
        check(Persistent::ALL);
        check(PmType::ALL);
        check(Powerup::ALL);
        check(Team::ALL);
        check(Weapon::ALL);
        assert_eq!(Team::try_from(4), Err(UnknownValue { kind: "Team", number: 4 }));
        assert!(3 == Team::Spectator && Team::Red != 2);
    }
}
