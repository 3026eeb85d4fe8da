//! Lists and texts with a maximum length.

use super::WireFormat;
use crate::wire::{BitReader, BitWriter, Wire, WireError};

/// Memory for this many elements is reserved before they are read, and for more only as they arrive.
const RESERVED: usize = 64;

/// A `Vec` of at most `max` elements, or a `String` of at most `max` bytes of UTF-8. Elements beyond `max`
/// are not written; a reader refuses longer ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundedList {
    max: u32,
}

impl BoundedList {
    /// Creates a format for at most `max` elements, 1 to 65,535.
    ///
    /// # Panics
    /// Panics for other lengths. In a `const` that is a compile-time error.
    #[must_use]
    pub const fn new(max: usize) -> Self {
        assert!(max != 0 && max <= 65_535, "the maximum length of a list must be 1 to 65,535");
        Self { max: max as u32 }
    }

    fn max(self) -> usize {
        self.max as usize
    }

    fn write_length(self, length: usize, w: &mut BitWriter) {
        w.bits(length.min(self.max()) as u32, u32::BITS - self.max.leading_zeros());
    }

    fn read_list<T>(
        self,
        r: &mut BitReader<'_>,
        element: impl Fn(&mut BitReader<'_>) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let length = r.bits(u32::BITS - self.max.leading_zeros())?;
        if length > self.max {
            return Err(WireError::Invalid);
        }
        let mut list = Vec::with_capacity((length as usize).min(RESERVED));
        for _ in 0..length {
            list.push(element(r)?);
        }
        Ok(list)
    }
}

impl<T: Wire> WireFormat<Vec<T>> for BoundedList {
    fn write(&self, value: &Vec<T>, w: &mut BitWriter) {
        self.write_length(value.len(), w);
        value.iter().take(self.max()).for_each(|element| element.write(w));
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Vec<T>, WireError> {
        self.read_list(r, T::read)
    }

    fn quantised(&self, value: Vec<T>) -> Vec<T> {
        value.into_iter().take(self.max()).map(T::quantised).collect()
    }
}

impl WireFormat<String> for BoundedList {
    fn write(&self, value: &String, w: &mut BitWriter) {
        let end = value.floor_char_boundary(self.max());
        self.write_length(end, w);
        value.bytes().take(end).for_each(|byte| w.bits(u32::from(byte), 8));
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<String, WireError> {
        let bytes = self.read_list(r, |r| r.bits(8).map(|byte| byte as u8))?;
        String::from_utf8(bytes).map_err(|_| WireError::Invalid)
    }

    fn quantised(&self, mut value: String) -> String {
        value.truncate(value.floor_char_boundary(self.max()));
        value
    }
}

/// A [`BoundedList`] whose elements have a format.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoundedListOf<F> {
    list: BoundedList,
    element: F,
}

impl<F> BoundedListOf<F> {
    /// Creates a format for at most `max` elements, 1 to 65,535, of the format `element`.
    ///
    /// # Panics
    /// Panics for other lengths. In a `const` that is a compile-time error.
    #[must_use]
    pub const fn new(max: usize, element: F) -> Self {
        Self { list: BoundedList::new(max), element }
    }
}

impl<T, F: WireFormat<T>> WireFormat<Vec<T>> for BoundedListOf<F> {
    fn write(&self, value: &Vec<T>, w: &mut BitWriter) {
        self.list.write_length(value.len(), w);
        let list = value.iter().take(self.list.max());
        list.for_each(|element| WireFormat::<T>::write(&self.element, element, w));
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<Vec<T>, WireError> {
        self.list.read_list(r, |r| WireFormat::<T>::read(&self.element, r))
    }

    fn quantised(&self, value: Vec<T>) -> Vec<T> {
        let list = value.into_iter().take(self.list.max());
        list.map(|element| WireFormat::<T>::quantised(&self.element, element)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire_format::IntBits;

    fn round_trip<T, F: WireFormat<T>>(format: &F, value: &T) -> (Result<T, WireError>, usize) {
        let mut w = BitWriter::default();
        format.write(value, &mut w);
        let bits = w.len_bits();
        (format.read(&mut BitReader::new(&w.finish())), bits)
    }

    #[test]
    fn lists_are_cut_to_their_maximum_and_longer_ones_refused() {
        let list = BoundedList::new(4);
        assert_eq!(round_trip(&list, &vec![1u8, 2, 3]), (Ok(vec![1, 2, 3]), 3 + 24));
        assert_eq!(round_trip(&list, &vec![7u8; 9]), (Ok(vec![7; 4]), 3 + 32));
        assert_eq!(list.quantised(vec![7u8; 9]), vec![7; 4]);
        let read: Result<Vec<u8>, _> = list.read(&mut BitReader::new(&[0xff; 9]));
        assert_eq!(read, Err(WireError::Invalid));
        let read: Result<Vec<u8>, _> = list.read(&mut BitReader::new(&[3, 0]));
        assert_eq!(read, Err(WireError::Ended));
        let coded = BoundedListOf::new(4, IntBits::new(3));
        assert_eq!(round_trip(&coded, &vec![1i16, 20, -20]), (Ok(vec![1, 3, -4]), 3 + 9));
        assert_eq!(coded.quantised(vec![1i16, 20, -20, 0, 0]), vec![1, 3, -4, 0]);
    }

    #[test]
    fn texts_are_cut_between_characters_and_must_be_utf_8() {
        let text = BoundedList::new(5);
        assert_eq!(round_trip(&text, &"Grüße".to_owned()), (Ok("Grü".to_owned()), 3 + 32));
        assert_eq!(text.quantised("Grüße".to_owned()), "Grü");
        let mut w = BitWriter::default();
        text.write(&vec![0xffu8, 0xff], &mut w);
        let read: Result<String, _> = text.read(&mut BitReader::new(&w.finish()));
        assert_eq!(read, Err(WireError::Invalid));
    }
}
