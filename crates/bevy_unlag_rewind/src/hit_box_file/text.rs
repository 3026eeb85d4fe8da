//! Reading and writing of hit box files.

use checked_ron::{RonError, RonFile, parse, to_text};
use serde::{Deserialize, Deserializer};

use super::HitBoxFile;

const HEAD: &str =
    "// Hit boxes of one kind of pawn, in metres and degrees. `--example hitboxes` shows and edits them.\n";

impl RonFile for HitBoxFile {
    const CONTENT: &'static str = "hit boxes";
    const EXTENSIONS: &'static [&'static str] = &["hitboxes.ron"];

    fn from_ron(text: &str) -> Result<Self, RonError> {
        let file: Self = parse(text)?;
        file.check()?;
        Ok(file)
    }
}

impl HitBoxFile {
    /// Writes a file that [`from_ron`](RonFile::from_ron) reads: a line for every box.
    ///
    /// # Errors
    /// Returns the value that could not be read again.
    pub fn to_ron(&self) -> Result<String, RonError> {
        self.check()?;
        Ok(HEAD.to_owned() + &to_text(self, 2)?)
    }
}

/// Deserialises the number of a limb. One that is too large is reported later, together with its box.
pub(super) fn limb<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    u64::deserialize(deserializer).map(|limb| u8::try_from(limb).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use checked_ron::broken_text::mangled;

    use super::*;
    use crate::{file_shape::FileShape, hit_box::BodyBounds, humanoid::humanoid_hit_boxes};

    const GOOD: &str = r#"(
        bounds: (radius: 0.9, low: -0.05, high: 1.9),
        boxes: [
            (bone: "Head", group: Head, shape: Ball(radius: 0.13)),
            (bone: "Spine", shape: Box(half: (0.2, 0.3, 0.15)), offset: (translation: (0.0, 0.1, 0.0))),
            (bone: "Head", shape: Capsule(a: (0, 0, 0), b: (0, 0.15, 0), radius: 0.05), factor: 0.5,
             offset: (rotation: (0, 90, 0))),
        ],
    )"#;

    #[test]
    fn file_converts_to_hit_boxes_and_back() {
        let file = HitBoxFile::from_ron(GOOD).expect("valid file");
        assert_eq!(file.bones(), ["Head", "Spine"]);
        let set = file.hit_boxes().expect("valid file");
        let limbs: Vec<u8> = set.boxes().iter().map(|hit_box| hit_box.limb).collect();
        assert_eq!((limbs.as_slice(), set.head_first()), ([0, 1, 0].as_slice(), true));
        assert_eq!(set.boxes()[2].factor, 0.5);
        let again = HitBoxFile::from_ron(&file.to_ron().expect("text")).expect("readable file");
        assert_eq!(again, file);
        let other = file.hit_boxes_on(&["Hips", "Spine", "Neck", "Head"]).expect("all are there");
        assert_eq!(other.boxes()[0].limb, 3);

        let preset = humanoid_hit_boxes().nearest_first();
        let file = HitBoxFile::of(&preset, &[]).expect("boxes only");
        let text = file.to_ron().expect("text");
        assert_eq!(text.lines().count(), 19 + 11, "a line for every box:\n{text}");
        let again = HitBoxFile::from_ron(&text).expect("readable file").hit_boxes().expect("valid file");
        assert!(!again.head_first() && again.bounds() == preset.bounds());
        for (a, b) in again.boxes().iter().zip(preset.boxes()) {
            assert_eq!((a.limb, a.group, a.factor), (b.limb, b.group, b.factor));
            assert!(
                a.offset == b.offset && FileShape::of(&a.shape) == FileShape::of(&b.shape),
                "{a:?} {b:?}"
            );
        }
    }

    #[test]
    fn errors_name_the_place_and_the_remedy_in_one_line() {
        let wrong = |from: &str, to: &str, told: &[&str]| {
            assert!(GOOD.contains(from), "{from}");
            let error = HitBoxFile::from_ron(&GOOD.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(told.iter().all(|part| error.contains(part)), "{to}: {error}");
            assert!(!error.contains('\n'), "{error}");
        };
        wrong("0.13", "NaN", &["box 0 on \"Head\"", "radius is NaN", "more than 0"]);
        wrong("0.13", "inf", &["box 0", "radius is inf"]);
        wrong("0.13", "-0.13", &["box 0", "radius is -0.13"]);
        wrong("0.13", "0", &["box 0", "radius is 0;"]);
        wrong("0.3, 0.15", "0.0, 0.15", &["box 1 on \"Spine\"", "half, y is 0"]);
        wrong("0.1, 0.0)", "1e9, 0.0)", &["box 1", "translation, y", "-100 to 100"]);
        wrong("(0, 90, 0)", "(0, 900, 0)", &["box 2", "rotation, y", "-360 to 360"]);
        wrong("factor: 0.5", "factor: -1", &["box 2", "factor is -1", "0 to 1000"]);
        wrong("radius: 0.9", "radius: NaN", &["bounds: radius is NaN"]);
        wrong("high: 1.9", "high: -1.0", &["bounds", "high must be more"]);
        wrong("bone: \"Spine\"", "bone: 3", &["by name", "by number", "alike"]);
        wrong("bone: \"Spine\"", "bone: \"\"", &["box 1", "empty name"]);
        wrong("bone: \"Spine\"", "bone: -3", &["line 5", "name of a bone in quotes"]);
        wrong("group: Head", "group: Nose", &["line 4", "Nose", "Head"]);
        wrong("bounds", "bouds", &["line 2", "bouds", "bounds"]);
        wrong("radius: 0.13", "", &["line 4", "radius"]);
        wrong("]", "", &["line"]);
        wrong("(\n", "\n", &["line"]);
        let error = HitBoxFile::from_ron(&GOOD.replace("bone: \"Spine\"", "bone: \"Spin\""))
            .and_then(|file| file.hit_boxes_on(&["Head", "Spine"]))
            .expect_err("no such bone");
        assert_eq!(error.to_string(), "box 1 on \"Spin\": there is no such bone; write one of: Head, Spine");
    }

    #[test]
    fn size_depth_and_counts_of_a_file_are_limited() {
        let bounds = "bounds: (radius: 1, low: 0, high: 1)";
        let of = |boxes: &str| {
            HitBoxFile::from_ron(&format!("({bounds}, boxes: [{boxes}])")).map_err(|e| e.to_string())
        };
        let numbered = |count: usize| -> String {
            (0..count).map(|bone| format!("(bone: \"b{bone}\", shape: Ball(radius: 1)),")).collect()
        };
        assert!(of(&numbered(32)).is_ok());
        assert!(of(&numbered(33)).is_err_and(|e| e.contains("33 bones") && e.contains("\"b32\"")));
        let one = "(bone: 31, shape: Ball(radius: 1)),";
        assert!(of(&one.repeat(255)).is_ok());
        assert!(of(&one.repeat(256)).is_err_and(|e| e.contains("256 boxes")));
        assert!(of("").is_err_and(|e| e.contains("0 boxes")));
        assert!(of("(bone: 32, shape: Ball(radius: 1))").is_err_and(|e| e.contains("0 to 31")));
        assert!(of("(bone: 99999999999, shape: Ball(radius: 1))").is_err_and(|e| e.contains("box 0")));
        assert!(HitBoxFile::from_ron(&" ".repeat(300_000)).is_err_and(|e| e.to_string().contains("bytes")));
        assert!(HitBoxFile::from_ron(&"(".repeat(100_000)).is_err(), "no stack overflow");
        assert!(HitBoxFile::from_ron(&"[(bone:".repeat(10_000)).is_err());
        // A constructed file is validated, too.
        let mut made = HitBoxFile::from_ron(GOOD).expect("good");
        made.bounds = BodyBounds::ball(f32::NAN);
        assert!(made.hit_boxes().is_err() && made.to_ron().is_err());
    }

    #[test]
    fn mangled_files_never_panic() {
        let read: Vec<HitBoxFile> =
            mangled(GOOD, 20_000, 1).filter_map(|text| HitBoxFile::from_ron(&text).ok()).collect();
        assert!(read.len() > 100, "{}", read.len());
        for file in read {
            assert!(file.hit_boxes().is_ok());
            assert!(file.boxes.iter().all(|b| b.factor.is_finite()));
        }
    }
}
