//! Packing of ticks, view times, stamps and bytes, relative to a tick that the reader knows.

use bevy_unlag_core::{BitReader, BitWriter, Tick, ViewStamp, ViewTime, WireError};

/// Appends a tick. One close to `base` takes few bits; `order` is that of the Golomb code.
pub(crate) fn write_tick(tick: Tick, base: Tick, order: u32, w: &mut BitWriter) {
    let near = i16::try_from(tick.since(base)).ok();
    w.bool(near.is_none());
    match near {
        Some(near) => w.signed_golomb(near, order),
        None => w.bits(tick.0, 32),
    }
}

pub(crate) fn read_tick(base: Tick, order: u32, r: &mut BitReader<'_>) -> Result<Tick, WireError> {
    Ok(if r.bool()? { Tick(r.bits(32)?) } else { base.offset(i32::from(r.signed_golomb(order)?)) })
}

pub(crate) fn write_optional_tick(tick: Option<Tick>, base: Tick, order: u32, w: &mut BitWriter) {
    w.bool(tick.is_some());
    if let Some(tick) = tick {
        write_tick(tick, base, order, w);
    }
}

pub(crate) fn read_optional_tick(
    base: Tick,
    order: u32,
    r: &mut BitReader<'_>,
) -> Result<Option<Tick>, WireError> {
    if r.bool()? { read_tick(base, order, r).map(Some) } else { Ok(None) }
}

pub(crate) fn write_time(time: ViewTime, base: Tick, w: &mut BitWriter) {
    write_tick(time.tick, base, 4, w);
    w.bits(u32::from(time.fraction), 8);
}

pub(crate) fn read_time(base: Tick, r: &mut BitReader<'_>) -> Result<ViewTime, WireError> {
    Ok(ViewTime { tick: read_tick(base, 4, r)?, fraction: r.bits(8)? as u8 })
}

pub(crate) fn write_optional_time(time: Option<ViewTime>, base: Tick, w: &mut BitWriter) {
    w.bool(time.is_some());
    if let Some(time) = time {
        write_time(time, base, w);
    }
}

pub(crate) fn read_optional_time(base: Tick, r: &mut BitReader<'_>) -> Result<Option<ViewTime>, WireError> {
    if r.bool()? { read_time(base, r).map(Some) } else { Ok(None) }
}

/// Appends a stamp. Most have the time of their view, which takes one bit.
pub(crate) fn write_stamp(stamp: ViewStamp, view: ViewTime, w: &mut BitWriter) {
    let (from, to, time) = match stamp {
        ViewStamp::Present => {
            w.bits(0, 2);
            return;
        }
        ViewStamp::Extrapolated { from, time } => (from, None, time),
        ViewStamp::Interpolated { from, to, time } => (from, Some(to), time),
    };
    w.bits(if to.is_some() { 2 } else { 1 }, 2);
    w.bool(time != view);
    if time != view {
        write_time(time, view.tick, w);
    }
    write_tick(from, time.tick, 2, w);
    if let Some(to) = to {
        write_tick(to, from, 2, w);
    }
}

pub(crate) fn read_stamp(view: ViewTime, r: &mut BitReader<'_>) -> Result<ViewStamp, WireError> {
    let kind = r.bits(2)?;
    if kind == 0 {
        return Ok(ViewStamp::Present);
    }
    let time = if r.bool()? { read_time(view.tick, r)? } else { view };
    let from = read_tick(time.tick, 2, r)?;
    match kind {
        1 => Ok(ViewStamp::Extrapolated { from, time }),
        2 => Ok(ViewStamp::Interpolated { from, to: read_tick(from, 2, r)?, time }),
        _ => Err(WireError::Invalid),
    }
}

/// Appends bytes with their length, cut to `most`.
pub(crate) fn write_bytes(bytes: &[u8], most: usize, w: &mut BitWriter) {
    let bytes = &bytes[..bytes.len().min(most).min(usize::from(u16::MAX))];
    w.golomb(bytes.len() as u16, 3);
    bytes.iter().for_each(|byte| w.bits(u32::from(*byte), 8));
}

pub(crate) fn read_bytes(most: usize, r: &mut BitReader<'_>) -> Result<Vec<u8>, WireError> {
    let length = usize::from(r.golomb(3)?);
    if length > most {
        return Err(WireError::Invalid);
    }
    let mut bytes = Vec::with_capacity(length.min(256));
    for _ in 0..length {
        bytes.push(r.bits(8)? as u8);
    }
    Ok(bytes)
}

/// Appends a text with its length, cut to `most` bytes.
pub(crate) fn write_text(text: &str, most: usize, w: &mut BitWriter) {
    write_bytes(&text.as_bytes()[..text.floor_char_boundary(most)], most, w);
}

pub(crate) fn read_text(most: usize, r: &mut BitReader<'_>) -> Result<String, WireError> {
    String::from_utf8(read_bytes(most, r)?).map_err(|_| WireError::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_stamps_round_trip_near_and_far_and_across_the_wrap() {
        let base = Tick(5);
        for apart in [0, 1, -1, 300, -40_000, i32::MAX, i32::MIN] {
            let tick = base.offset(apart);
            let (time, view) = (ViewTime { tick, fraction: 200 }, ViewTime::at(base));
            let stamps = [
                ViewStamp::Present,
                ViewStamp::Extrapolated { from: tick.offset(-7), time },
                ViewStamp::Extrapolated { from: base, time: view },
                ViewStamp::Interpolated { from: tick.offset(-70_000), to: tick.offset(3), time },
            ];
            let mut w = BitWriter::default();
            write_optional_tick(Some(tick), base, 2, &mut w);
            write_optional_time(Some(time), base, &mut w);
            write_optional_time(None, base, &mut w);
            stamps.iter().for_each(|stamp| write_stamp(*stamp, view, &mut w));
            let bytes = w.finish();
            let mut r = BitReader::new(&bytes);
            assert_eq!(read_optional_tick(base, 2, &mut r), Ok(Some(tick)));
            assert_eq!(read_optional_time(base, &mut r), Ok(Some(time)));
            assert_eq!(read_optional_time(base, &mut r), Ok(None));
            for stamp in stamps {
                assert_eq!(read_stamp(view, &mut r), Ok(stamp));
            }
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut w = BitWriter::default();
        write_text("größer", 3, &mut w);
        assert_eq!(read_text(3, &mut BitReader::new(&w.finish())), Ok("gr".to_owned()));
        let mut w = BitWriter::default();
        write_text("abcdef", 6, &mut w);
        assert_eq!(read_text(5, &mut BitReader::new(&w.finish())), Err(WireError::Invalid));
    }
}
