//! One-way delay line that holds everything for a number of frames.

use std::collections::VecDeque;

/// Returns items a number of frames after they were put in.
pub struct DelayLine<T> {
    frames: usize,
    waiting: VecDeque<Vec<T>>,
}

impl<T> Default for DelayLine<T> {
    fn default() -> Self {
        Self { frames: 0, waiting: VecDeque::new() }
    }
}

impl<T> DelayLine<T> {
    /// Delays all items by additional frames from now on.
    pub fn lengthen(&mut self, frames: usize) {
        self.frames += frames;
    }

    /// Accepts the items sent in this frame and returns the ones that are due.
    pub fn transfer(&mut self, sent: Vec<T>) -> Vec<T> {
        self.waiting.push_back(sent);
        let due = self.waiting.len().saturating_sub(self.frames);
        self.waiting.drain(..due).flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delayed_items_come_out_later_and_in_order() {
        let mut delay = DelayLine::default();
        assert_eq!(delay.transfer(vec![1, 2]), [1, 2]);
        delay.lengthen(2);
        let out: Vec<_> = [vec![3], vec![], vec![4, 5], vec![]].map(|sent| delay.transfer(sent)).into();
        assert_eq!(out, [vec![], vec![], vec![3], vec![]]);
        assert_eq!(delay.transfer(Vec::new()), [4, 5]);
    }
}
