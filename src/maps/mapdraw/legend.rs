//! Legend of a drawing: map, items by name, markers, liquids, heights and scale.

use super::{
    Color, INK, PixelPoint, Primitive, Shape, heightmap,
    items::{ItemMark, MARKS, mark_of},
    markers::{MarkerIcon, STYLES, Shown, Style, corners, icon_at},
};
use crate::{
    model::text::counted,
    world::{EntityCategory, MapSummary},
};

/// Characters of a line of text, and of the map's name in large letters.
const LINE_CHARS: usize = 34;
const NAME_CHARS: usize = 21;
/// Maximum lines of a title.
const MAX_TITLE_LINES: usize = 4;
/// Height of a row, in pixels.
const ROW: f32 = 18.0;

/// Data of the legend.
pub(super) struct LegendData<'a> {
    pub(super) name: &'a str,
    pub(super) survey: &'a MapSummary,
    /// Entities that the drawing shows.
    pub(super) shown: Shown<'a>,
    /// Names and colors of the liquids that the drawing shows.
    pub(super) liquids: Vec<(&'static str, Color)>,
    /// Lowest and highest floor, in units.
    pub(super) heights: [f32; 2],
    pub(super) pixels_per_unit: f32,
    /// Whether a line is left free for the floors.
    pub(super) has_floors: bool,
}

/// A legend and its place.
pub(super) struct Legend {
    pub(super) shapes: Vec<Shape>,
    /// Left end of the line of the floors.
    pub(super) floors_at: PixelPoint,
    /// Lower edge, in pixels.
    pub(super) bottom: f32,
}

/// Draws the legend at its upper left corner.
pub(super) fn legend(data: &LegendData<'_>, [left, top]: PixelPoint) -> Legend {
    let mut writer = Writer { shapes: Vec::new(), left, line: top };
    writer.heading(data);
    let floors_at = [left, writer.line + ROW];
    if data.has_floors {
        writer.line += ROW + 6.0;
    }
    writer.line += 8.0;
    writer.items(&data.shown);
    writer.styles(&data.shown);
    for (name, color) in &data.liquids {
        writer.row(name, |at| vec![plain(square(at), *color)]);
    }
    writer.heights(data.heights);
    writer.scale(data.pixels_per_unit);
    Legend { floors_at, bottom: writer.line, shapes: writer.shapes }
}

/// Draws rows from top to bottom.
struct Writer {
    shapes: Vec<Shape>,
    left: f32,
    /// Lower edge of the last row.
    line: f32,
}

impl Writer {
    fn text(&mut self, at: PixelPoint, text: String, large: bool) {
        let primitive = Primitive::Text { at, text, large, centered: false, halo: false };
        self.shapes.push(plain(primitive, INK));
    }

    fn words(&mut self, text: String, large: bool) {
        self.line += if large { ROW + 2.0 } else { ROW - 2.0 };
        self.text([self.left, self.line - 4.0], text, large);
    }

    fn heading(&mut self, data: &LegendData<'_>) {
        let LegendData { name, survey, .. } = data;
        let is_large = name.len() <= NAME_CHARS;
        for line in wrapped(name) {
            self.words(line, is_large);
        }
        let title: String = survey.title.chars().filter(|c| matches!(c, ' '..='~')).collect();
        for line in wrapped(&title) {
            self.words(line, false);
        }
        let [width, depth, tall] = survey.size.0;
        self.words(format!("{width:.0} x {depth:.0} x {tall:.0} units"), false);
        let count = |is_it: fn(EntityCategory) -> bool| {
            data.shown.categories().filter(|&(category, _)| is_it(category)).count()
        };
        let (spawns, items) = (count(EntityCategory::is_spawn), count(EntityCategory::is_item));
        self.words(
            format!("{}, {}", counted(spawns, "spawn point"), counted(items, "item")),
            false,
        );
    }

    /// Draws a row: an icon and a text.
    fn row(&mut self, text: &str, icon: impl Fn(PixelPoint) -> Vec<Shape>) {
        self.line += ROW;
        self.shapes.extend(icon([self.left + 10.0, self.line - 6.0]));
        self.text([self.left + 28.0, self.line - 2.0], text.to_owned(), false);
    }

    /// Draws a row for each named item of the drawing.
    fn items(&mut self, shown: &Shown<'_>) {
        for mark in MARKS {
            let count = shown.count(mark.class);
            if count == 0 {
                continue;
            }
            self.row(mark.label, |at| mark_icon(mark, at));
            let many = if count > 1 { format!(" x{count}") } else { String::new() };
            let name = format!("{}{many}", mark.name());
            self.text([self.left + 74.0, self.line - 2.0], name, false);
        }
    }

    /// Draws a row for each other kind of marker of the drawing.
    fn styles(&mut self, shown: &Shown<'_>) {
        for style in STYLES {
            if shown.categories().any(|kind| kind == (style.purpose, false)) {
                self.row(style.label, |at| style_icon(style, at));
            }
        }
    }

    /// Draws the colors of the heights, the highest above.
    fn heights(&mut self, [lowest, highest]: [f32; 2]) {
        self.line += 10.0;
        let top = self.line;
        self.text([self.left + 28.0, top + 8.0], format!("floor at {highest:.0}"), false);
        self.text([self.left + 28.0, top + 72.0], format!("floor at {lowest:.0}"), false);
        let left = self.left;
        self.shapes.extend((0_u16..36).map(|step| gradient_step([left, top], step)));
        self.line += 72.0;
    }

    fn scale(&mut self, pixels_per_unit: f32) {
        let unit = [2048.0, 1024.0, 512.0, 256.0, 128.0, 64.0, 32.0]
            .into_iter()
            .find(|units| units * pixels_per_unit <= 160.0)
            .unwrap_or(16.0);
        self.line += 24.0;
        self.shapes.extend(scale_bar([self.left, self.line], unit * pixels_per_unit));
        self.line += 20.0;
        self.text([self.left, self.line], format!("{unit:.0} units"), false);
        self.line += 4.0;
    }
}

fn plain(primitive: Primitive, color: Color) -> Shape {
    Shape { primitive, color, opacity: 1.0, name: String::new() }
}

/// Breaks a text into lines at its spaces. A text of too many lines ends in dots.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word = word;
        while !word.is_empty() {
            let used = lines.last().map_or(LINE_CHARS, String::len);
            if used + 1 + word.len() <= LINE_CHARS
                && let Some(line) = lines.last_mut()
            {
                line.push(' ');
                line.push_str(word);
                break;
            }
            let end = (0..=LINE_CHARS.min(word.len())).rev().find(|&at| word.is_char_boundary(at));
            let (line, rest) = word.split_at(end.unwrap_or(word.len()));
            lines.push(line.to_owned());
            word = rest;
        }
    }
    if lines.len() > MAX_TITLE_LINES {
        lines.truncate(MAX_TITLE_LINES);
        if let Some(last) = lines.last_mut() {
            let end =
                (0..=last.len().min(LINE_CHARS - 4)).rev().find(|&at| last.is_char_boundary(at));
            last.truncate(end.unwrap_or(0));
            last.push_str(" ...");
        }
    }
    lines
}

/// Returns the icon of a named item.
fn mark_icon(mark: &ItemMark, at: PixelPoint) -> Vec<Shape> {
    let category = EntityCategory::of(mark.class);
    let icon = STYLES.iter().find(|style| style.purpose == category).map(|style| style.icon);
    icon_at(icon.unwrap_or(MarkerIcon::Disc), at, 0.0, mark.color, mark.class)
}

/// Returns the icon of a marker style.
fn style_icon(style: &Style, at: PixelPoint) -> Vec<Shape> {
    debug_assert!(mark_of(style.label).is_none());
    if !matches!(style.icon, MarkerIcon::Outline) {
        return icon_at(style.icon, at, 0.0, style.color, style.label);
    }
    let square = corners(at, 9.0, 4, 0.125);
    let shape = |primitive, opacity| Shape {
        primitive,
        color: style.color,
        opacity,
        name: style.label.to_owned(),
    };
    let edges = square.iter().zip(square.iter().cycle().skip(1));
    let edges = edges.map(|(&from, &to)| Primitive::Line { from, to, width: 1.5 });
    let edges: Vec<Shape> = edges.map(|edge| shape(edge, 0.9)).collect();
    std::iter::once(shape(Primitive::Polygon(square), 0.25)).chain(edges).collect()
}

/// Square of a color.
fn square(at: PixelPoint) -> Primitive {
    Primitive::Polygon(corners(at, 9.0, 4, 0.125))
}

/// Returns one of the 36 steps of the height colors.
fn gradient_step([left, top]: PixelPoint, step: u16) -> Shape {
    let y = top + 2.0 * f32::from(step);
    let corners =
        vec![[left + 3.0, y], [left + 17.0, y], [left + 17.0, y + 2.0], [left + 3.0, y + 2.0]];
    plain(Primitive::Polygon(corners), heightmap::gradient(1.0 - f32::from(step) / 35.0))
}

/// Returns the lines of the scale.
fn scale_bar([left, bar]: PixelPoint, len: f32) -> [Shape; 3] {
    let end = left + len;
    let lines = [
        ([left, bar], [end, bar]),
        ([left, bar - 4.0], [left, bar + 4.0]),
        ([end, bar - 4.0], [end, bar + 4.0]),
    ];
    lines.map(|(from, to)| plain(Primitive::Line { from, to, width: 1.5 }, INK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_wrapped_whole() {
        let title = "The Bad Place (converted from another game by two people)";
        assert_eq!(wrapped(title).join(" "), title);
        assert!(wrapped(title).iter().all(|line| line.len() <= LINE_CHARS));
        assert_eq!(wrapped(""), [""; 0]);
        assert_eq!(wrapped(&"x".repeat(40)), ["x".repeat(34), "x".repeat(6)]);
        let lines = wrapped(&"word ".repeat(99));
        assert_eq!(lines.len(), MAX_TITLE_LINES);
        assert!(lines[3].ends_with(" ..."), "{lines:?}");
    }
}
