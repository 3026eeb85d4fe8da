//! Commands of the app for the thread that talks to Agones' sidecar.

use core::time::Duration;
use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::sdk_client::Command;

/// Longest queue. A game sets a few labels in a match; while the sidecar is away, no more are kept.
const MAX_COMMANDS: usize = 64;

/// Queue of the app's commands. No method waits for the sidecar, except for [`shut_down`](Self::shut_down).
#[derive(Debug, Default)]
pub(crate) struct CommandQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    commands: VecDeque<Command>,
    /// Names of the players inside, if they have changed.
    players: Option<BTreeSet<String>>,
    shutdown: Shutdown,
    is_closed: bool,
    /// Whether the worker has not looked since the last change.
    is_new: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Shutdown {
    #[default]
    No,
    Wanted,
    Done,
}

/// For the app.
impl CommandQueue {
    /// Appends a command. Returns false when the queue is full.
    pub(crate) fn push(&self, command: Command) -> bool {
        let mut has_room = false;
        self.change(|state| {
            has_room = state.commands.len() < MAX_COMMANDS;
            if has_room {
                state.commands.push_back(command);
            }
        });
        has_room
    }

    /// Replaces the names of the players inside.
    pub(crate) fn set_players(&self, players: BTreeSet<String>) {
        self.change(|state| state.players = Some(players));
    }

    /// Lets the worker tell Agones that the server is over, instead of everything else that is waiting. Returns whether
    /// the sidecar has taken it within `limit`.
    pub(crate) fn shut_down(&self, limit: Duration) -> bool {
        self.change(|state| {
            if state.shutdown == Shutdown::No {
                state.shutdown = Shutdown::Wanted;
            }
        });
        let state = self.lock();
        let waiting = self.changed.wait_timeout_while(state, limit, |state| state.shutdown != Shutdown::Done);
        let (state, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        state.shutdown == Shutdown::Done
    }

    /// Ends the threads that look at the queue.
    pub(crate) fn close(&self) {
        self.change(|state| state.is_closed = true);
    }
}

/// For the threads.
impl CommandQueue {
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Returns the next command, which stays in the queue until [`pop`](Self::pop).
    pub(crate) fn front(&self) -> Option<Command> {
        let state = self.lock();
        if state.shutdown == Shutdown::Wanted {
            return Some(Command::Shutdown);
        }
        state.commands.front().cloned()
    }

    /// Removes a command that is done, or refused for good.
    pub(crate) fn pop(&self, done: &Command) {
        self.change(|state| {
            if *done == Command::Shutdown {
                state.shutdown = Shutdown::Done;
                state.commands.clear();
            } else {
                state.commands.pop_front();
            }
        });
    }

    /// Returns the names of the players inside, if they have changed since the last call.
    pub(crate) fn take_players(&self) -> Option<BTreeSet<String>> {
        self.lock().players.take()
    }

    /// Waits for a change, but not for longer than `limit`.
    pub(crate) fn wait(&self, limit: Duration) {
        let waiting = self.changed.wait_timeout_while(self.lock(), limit, |state| !state.is_new);
        let (mut state, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        state.is_new = false;
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        state.is_new = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_queue_takes_nothing_more_and_a_shutdown_passes_it() {
        let queue = CommandQueue::default();
        let label = |i: usize| Command::SetLabel { key: "map".to_owned(), value: i.to_string() };
        let taken = (0..1_000).filter(|i| queue.push(label(*i))).count();
        assert_eq!(taken, MAX_COMMANDS);
        assert_eq!(queue.front(), Some(label(0)));
        queue.pop(&label(0));
        assert!(queue.push(label(64)), "there is room again");
        assert_eq!(queue.front(), Some(label(1)));
        assert!(!queue.shut_down(Duration::ZERO), "no worker has looked");
        assert_eq!(queue.front(), Some(Command::Shutdown));
        queue.pop(&Command::Shutdown);
        assert_eq!(queue.front(), None);
        assert!(queue.shut_down(Duration::ZERO), "done already");
        assert_eq!(queue.front(), None);
    }

    #[test]
    fn players_are_the_newest_names_once() {
        let queue = CommandQueue::default();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(queue.take_players(), None);
        queue.set_players(names(&["1"]));
        queue.set_players(names(&["1", "2"]));
        assert_eq!(queue.take_players(), Some(names(&["1", "2"])));
        assert_eq!(queue.take_players(), None);
    }
}
