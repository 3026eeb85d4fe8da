//! Machines and server processes of a simulated fleet.

use super::{MACHINE_CORES, WarmBuffer};

/// Machine, from its order until it is given back.
struct Machine {
    ordered: f64,
    is_up: bool,
    /// Processes on it.
    used: usize,
    /// End of its last process.
    idle_since: f64,
    given_back: Option<f64>,
}

/// Machines and processes. Times are in seconds since the beginning of the day.
pub struct Machines {
    /// Processes that fit a machine.
    room: usize,
    buffer: Option<WarmBuffer>,
    machines: Vec<Machine>,
    /// Machine of each ready process.
    ready: Vec<usize>,
    /// Processes that start, that have no machine yet, and that play.
    starting: usize,
    pending: usize,
    allocated: usize,
    /// Number of processes that there should be, with a buffer.
    target: usize,
    /// Largest number of machines at a time.
    peak: usize,
}

/// Beginnings that [`Machines::scale`] has decided, by machine.
#[derive(Default)]
pub struct Started {
    pub processes: Vec<usize>,
    pub machines: Vec<usize>,
}

impl Machines {
    /// Creates a fleet with one machine that is up.
    pub fn new(matches_per_core: usize, buffer: Option<WarmBuffer>) -> Self {
        let first = Machine { ordered: 0.0, is_up: true, used: 0, idle_since: 0.0, given_back: None };
        Self {
            room: matches_per_core * MACHINE_CORES,
            buffer,
            machines: vec![first],
            ready: Vec::new(),
            starting: 0,
            pending: 0,
            allocated: 0,
            target: 0,
            peak: 1,
        }
    }

    /// Starts and ends processes, and orders machines, for so many matches that wait for a process.
    pub fn scale(&mut self, now: f64, waiting: usize) -> Started {
        let target = if self.buffer.is_some() { self.target } else { self.allocated + waiting };
        let total = self.allocated + self.ready.len() + self.starting + self.pending;
        self.pending += target.saturating_sub(total);
        let mut surplus = total.saturating_sub(target);
        let unplaced = surplus.min(self.pending);
        self.pending -= unplaced;
        surplus -= unplaced;
        // From the emptiest machine, so that it can be given back.
        while surplus > 0
            && let Some(at) = (0..self.ready.len()).min_by_key(|at| self.machines[self.ready[*at]].used)
        {
            let machine = self.ready.swap_remove(at);
            self.leave(machine, now);
            surplus -= 1;
        }
        let mut started = Started::default();
        while self.pending > 0
            && let Some(machine) = self.fullest_with_room()
        {
            self.machines[machine].used += 1;
            self.pending -= 1;
            self.starting += 1;
            started.processes.push(machine);
        }
        let mut expected = self.room * self.machines.iter().filter(|machine| !machine.is_up).count();
        while self.pending > expected {
            started.machines.push(self.machines.len());
            let machine = Machine { ordered: now, is_up: false, used: 0, idle_since: now, given_back: None };
            self.machines.push(machine);
            expected += self.room;
        }
        let kept = self.machines.iter().filter(|machine| machine.given_back.is_none()).count();
        self.peak = self.peak.max(kept);
        started
    }

    fn fullest_with_room(&self) -> Option<usize> {
        let has_room =
            |machine: &Machine| machine.is_up && machine.given_back.is_none() && machine.used < self.room;
        let machines = self.machines.iter().enumerate().filter(|(_, machine)| has_room(machine));
        machines.max_by_key(|(_, machine)| machine.used).map(|(at, _)| at)
    }

    /// Notes that a process on a machine has ended.
    fn leave(&mut self, machine: usize, now: f64) {
        let machine = &mut self.machines[machine];
        machine.used -= 1;
        machine.idle_since = now;
    }

    /// Notes that a machine is up.
    pub fn machine_is_up(&mut self, machine: usize, now: f64) {
        let machine = &mut self.machines[machine];
        (machine.is_up, machine.idle_since) = (true, now);
    }

    /// Notes that a process on a machine is ready.
    pub fn process_is_ready(&mut self, machine: usize) {
        self.starting -= 1;
        self.ready.push(machine);
    }

    /// Gives a match a ready process, on the fullest machine that has one. Returns the machine.
    pub fn allocate(&mut self) -> Option<usize> {
        let at = (0..self.ready.len()).max_by_key(|at| self.machines[self.ready[*at]].used)?;
        self.allocated += 1;
        Some(self.ready.swap_remove(at))
    }

    /// Notes that a match on a machine has ended, and its process with it.
    pub fn end_match(&mut self, machine: usize, now: f64) {
        self.allocated -= 1;
        self.leave(machine, now);
    }

    /// Sets the number of processes by the buffer, and gives back machines that have been idle for `idle` seconds.
    pub fn adjust(&mut self, now: f64, idle: f64) {
        if let Some(buffer) = &self.buffer {
            self.target = buffer.target(self.allocated);
        }
        let is_unused = |machine: &&mut Machine| {
            machine.is_up
                && machine.used == 0
                && machine.given_back.is_none()
                && now - machine.idle_since >= idle
        };
        self.machines.iter_mut().filter(is_unused).for_each(|machine| machine.given_back = Some(now));
    }

    /// Returns the largest number of cores at a time.
    pub fn peak_cores(&self) -> usize {
        self.peak * MACHINE_CORES
    }

    /// Returns the hours for which cores were kept until `now`, from the order of their machine.
    pub fn core_hours(&self, now: f64) -> f64 {
        let kept = |machine: &Machine| machine.given_back.unwrap_or(now) - machine.ordered;
        self.machines.iter().map(kept).sum::<f64>() / 3_600.0 * MACHINE_CORES as f64
    }
}
