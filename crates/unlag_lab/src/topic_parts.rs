//! Parts of a topic, which can be measured alone.

use clap::ValueEnum;

/// Returns the parts of a topic to measure, in their order: those that were asked for, or all of them.
pub fn wanted<P: ValueEnum + PartialEq + 'static>(asked: &[P]) -> impl Iterator<Item = &P> {
    P::value_variants().iter().filter(|part| asked.is_empty() || asked.contains(part))
}
