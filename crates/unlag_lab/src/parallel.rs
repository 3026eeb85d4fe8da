//! Work shared among all cores.

use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// Applies `job` to every item on all cores, and calls `done` on this thread with every result as it arrives. Returns
/// the results in the order of the items.
///
/// # Errors
/// Returns the first error of `job` or `done`, which ends the work.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    job: impl Fn(&T) -> Result<R, String> + Sync,
    mut done: impl FnMut(&R) -> Result<(), String>,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (sender, next, job) = (sender.clone(), &next, &job);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { return };
                    // The receiver is gone after the first failure.
                    if sender.send((place, job(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (place, result) in receiver {
            let result = result?;
            done(&result)?;
            results[place] = Some(result);
        }
        Ok::<(), String>(())
    })?;
    Ok(results.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_are_in_order_and_an_error_ends_the_measurement() {
        let items: Vec<u32> = (0..100).collect();
        let doubled = in_parallel(&items, |item| Ok(item * 2), |_| Ok(())).expect("no job fails");
        assert!(doubled.iter().zip(&items).all(|(twice, item)| *twice == item * 2));
        let fails = |item: &u32| if *item == 70 { Err("no".to_owned()) } else { Ok(*item) };
        assert_eq!(in_parallel(&items, fails, |_| Ok(())), Err("no".to_owned()));
    }
}
