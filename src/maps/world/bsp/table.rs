//! Typed tables, indexed by their own number type only.
//!
//! Invariant: only the loader creates indices and ranges, and checks them against their table.
//! Indexing with numbers of the same map never fails.

use std::{
    fmt,
    marker::PhantomData,
    num::NonZeroU32,
    ops::{Deref, Index},
};

/// Index type of one kind of [`Table`].
pub trait TableIndex: Copy {
    /// The number as an index.
    fn index(self) -> usize;
    /// Creates a number from an index that the caller has checked.
    #[doc(hidden)]
    fn from_checked(index: usize) -> Self;
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        // One more than the number, so that none takes no space of its own.
        pub struct $name(NonZeroU32);

        impl $name {
            /// The number as an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl TableIndex for $name {
            fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            fn from_checked(index: usize) -> Self {
                debug_assert!(index <= i32::MAX as usize);
                Self(NonZeroU32::MIN.saturating_add(index as u32))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&(self.0.get() - 1), f)
            }
        }
    )+};
}

numbers! {
    /// Number of a [`Shader`](super::Shader).
    ShaderNum
    /// Number of a [`Plane`](super::Plane).
    PlaneNum
    /// Number of a [`Node`](super::Node).
    NodeNum
    /// Number of a [`Leaf`](super::Leaf).
    LeafNum
    /// Index into the list of leaf surfaces.
    LeafSurfaceNum
    /// Index into the list of leaf brushes.
    LeafBrushNum
    /// Number of a [`Model`](super::Model): 0 is the world, others are brush entities.
    ModelNum
    /// Number of a [`Brush`](super::Brush).
    BrushNum
    /// Number of a [`BrushSide`](super::BrushSide).
    BrushSideNum
    /// Number of a vertex.
    VertexNum
    /// Number of a [`Surface`](super::Surface).
    SurfaceNum
    /// Number of a cluster: a group of leafs with one PVS row.
    ClusterNum
    /// Number of an area, `0..256`: a region bounded by doors.
    AreaNum
}

impl NodeNum {
    /// Root of the tree.
    pub const ROOT: Self = Self(NonZeroU32::MIN);
}

impl ModelNum {
    /// The world model.
    pub const WORLD: Self = Self(NonZeroU32::MIN);
}

/// Records of one kind, indexed by `N`. A slice otherwise.
#[derive(Clone, PartialEq)]
pub struct Table<N, T> {
    records: Box<[T]>,
    number: PhantomData<fn(N) -> T>,
}

impl<N: TableIndex, T> Table<N, T> {
    pub(super) fn new(records: Vec<T>) -> Self {
        Self { records: records.into_boxed_slice(), number: PhantomData }
    }

    /// Returns the record of this number, or `None` when the table has none.
    pub fn get_by_number(&self, number: N) -> Option<&T> {
        self.records.get(number.index())
    }

    /// Returns the number of an index, or `None` when the table has no such record.
    #[must_use]
    pub fn number(&self, index: usize) -> Option<N> {
        (index < self.records.len()).then(|| N::from_checked(index))
    }

    /// Iterates over the records with their numbers, ascending.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (N, &T)> {
        self.records.iter().enumerate().map(|(index, record)| (N::from_checked(index), record))
    }
}

impl<N, T> Deref for Table<N, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.records
    }
}

impl<N: TableIndex, T> Index<N> for Table<N, T> {
    type Output = T;
    fn index(&self, number: N) -> &T {
        &self.records[number.index()]
    }
}

impl<N: TableIndex, T> Index<Span<N>> for Table<N, T> {
    type Output = [T];
    fn index(&self, span: Span<N>) -> &[T] {
        let first = span.first as usize;
        &self.records[first..first + span.len()]
    }
}

impl<N, T: fmt::Debug> fmt::Debug for Table<N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.records.iter()).finish()
    }
}

/// A range of consecutive records of a table, possibly empty.
pub struct Span<N> {
    first: u32,
    count: u32,
    number: PhantomData<fn() -> N>,
}

impl<N> Clone for Span<N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N> Copy for Span<N> {}

impl<N> PartialEq for Span<N> {
    fn eq(&self, other: &Self) -> bool {
        (self.first, self.count) == (other.first, other.count)
    }
}

impl<N> fmt::Debug for Span<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.first, self.first + self.count)
    }
}

impl<N: TableIndex> Span<N> {
    /// Creates a span that the caller has checked against its table.
    pub(super) const fn from_checked(first: u32, count: u32) -> Self {
        Self { first, count, number: PhantomData }
    }

    /// Number of records.
    #[must_use]
    pub const fn len(self) -> usize {
        self.count as usize
    }

    /// Whether the span is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Iterates over the record numbers, ascending.
    pub fn numbers(self) -> impl DoubleEndedIterator<Item = N> + ExactSizeIterator {
        (self.first..self.first + self.count).map(|number| N::from_checked(number as usize))
    }
}
