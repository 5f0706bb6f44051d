//! A slab: values by number, with freed numbers reused.

/// Values by number, numbers reused.
#[derive(Debug)]
pub(super) struct Slab<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }

    pub(super) fn put(&mut self, value: T) -> u32 {
        if let Some(at) = self.free.pop() {
            self.values[at as usize] = Some(value);
            return at;
        }
        self.values.push(Some(value));
        u32::try_from(self.values.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.values.get(at as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.values.get_mut(at as usize)?.as_mut()
    }

    pub(super) fn take(&mut self, at: u32) -> Option<T> {
        let value = self.values.get_mut(at as usize)?.take()?;
        self.free.push(at);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again() {
        let mut places = Slab::new();
        assert_eq!((places.put('a'), places.put('b')), (0, 1));
        assert_eq!((places.take(0), places.take(0), places.take(9)), (Some('a'), None, None));
        assert_eq!((places.put('c'), places.get(0), places.get(1)), (0, Some(&'c'), Some(&'b')));
        *places.get_mut(1).unwrap() = 'd';
        assert_eq!(places.len(), 2);
        assert_eq!((places.get(1), places.get(2)), (Some(&'d'), None));
    }
}
