//! Pauses before repeated requests.

use core::time::Duration;

/// Pause after the first failure.
const FIRST: Duration = Duration::from_millis(100);

/// Pauses that double with each failure, up to a limit.
#[derive(Debug)]
pub(crate) struct RetryDelay {
    next: Duration,
    limit: Duration,
}

impl RetryDelay {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { next: FIRST, limit: limit.max(FIRST) }
    }

    /// Returns the pause after one more failure.
    pub(crate) fn after_failure(&mut self) -> Duration {
        let delay = self.next.min(self.limit);
        self.next = delay * 2;
        delay
    }

    /// Begins again with the shortest pause.
    pub(crate) fn reset(&mut self) {
        self.next = FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_limit_and_begin_again() {
        let mut delay = RetryDelay::new(Duration::from_millis(500));
        let pauses = |delay: &mut RetryDelay| [(); 5].map(|()| delay.after_failure().as_millis());
        assert_eq!(pauses(&mut delay), [100, 200, 400, 500, 500]);
        delay.reset();
        assert_eq!(pauses(&mut delay), [100, 200, 400, 500, 500]);
        assert_eq!(pauses(&mut RetryDelay::new(Duration::ZERO)), [100; 5], "never without a pause");
    }
}
