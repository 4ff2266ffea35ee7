//! SVG output: the ground as an embedded PNG, the markers as named shapes.

use std::fmt::Write as _;

use super::{BACKGROUND, Color, Drawing, INK, Image, PixelPoint, Primitive, Shape, raster};

/// Shows the floor that the address names, such as `map.svg#floor2`, else all floors. Works without a script.
const STYLE: &str = "<style>.floor{display:none}.floor:target{display:inline}\
                     .floor:target~.all{display:none}</style>\n";

/// Encodes a drawing as an SVG file.
///
/// # Errors
///
/// The PNG encoder's error, as a sentence.
pub fn svg(drawing: &Drawing) -> Result<String, String> {
    let [width, height] = drawing.size;
    let [full_width, full_height] = drawing.picture_size();
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full_width}\" height=\"{full_height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        hex(BACKGROUND),
    );
    if !drawing.floors.is_empty() {
        text.push_str(STYLE);
    }
    for (floor, number) in drawing.floors.iter().zip(1..) {
        let _ = writeln!(text, "<g class=\"floor\" id=\"floor{number}\">");
        write_layer(&mut text, drawing, &floor.ground, &floor.shapes, &floor.legend)?;
    }
    text.push_str("<g class=\"all\" id=\"all\">\n");
    write_layer(&mut text, drawing, &drawing.ground, &drawing.shapes, &drawing.legend)?;
    write_tabs(&mut text, drawing);
    text.push_str("</svg>\n");
    Ok(text)
}

/// Writes ground, markers and legend, and ends their group.
fn write_layer(
    text: &mut String,
    drawing: &Drawing,
    ground: &Image,
    shapes: &[Shape],
    legend: &[Shape],
) -> Result<(), String> {
    let [left, top] = drawing.ground_at;
    let [width, height] = [ground.width, ground.height].map(|length| length as f32 / drawing.scale);
    let image = base64(&raster::encode(ground)?);
    let _ = writeln!(
        text,
        "<image x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
         href=\"data:image/png;base64,{image}\"/>"
    );
    for shape in shapes.iter().chain(legend) {
        write_shape(text, shape);
    }
    text.push_str("</g>\n");
    Ok(())
}

/// Writes the links that show all floors or one.
fn write_tabs(text: &mut String, drawing: &Drawing) {
    if drawing.floors.is_empty() {
        return;
    }
    let [left, base] = drawing.floors_at;
    let ink = hex(INK);
    let _ = writeln!(
        text,
        "<text x=\"{left:.1}\" y=\"{base:.1}\" font-size=\"12\" fill=\"{ink}\">floors</text>"
    );
    let floors = drawing.floors.iter().zip(1..);
    let floors = floors.map(|(floor, number)| {
        (format!("floor{number}"), number.to_string(), format!("heights {}", floor.heights))
    });
    let all = ("all".to_owned(), "all".to_owned(), "all heights".to_owned());
    let mut x = left + 44.0;
    for (target, name, title) in std::iter::once(all).chain(floors) {
        let width = 14.0 + 6.0 * name.len() as f32;
        let _ = writeln!(
            text,
            "<a href=\"#{target}\"><title>{title}</title><rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
             height=\"18\" rx=\"4\" fill=\"#3a4354\"/><text x=\"{:.1}\" y=\"{base:.1}\" font-size=\"12\" \
             text-anchor=\"middle\" fill=\"{ink}\">{name}</text></a>",
            base - 13.0,
            x + width / 2.0,
        );
        x += width + 4.0;
    }
}

fn write_shape(text: &mut String, shape: &Shape) {
    let (color, opacity) = (hex(shape.color), shape.opacity);
    // Writing to text cannot fail.
    let _ = match &shape.primitive {
        Primitive::Disc { at: [x, y], radius } => write!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{color}\" \
             opacity=\"{opacity}\""
        ),
        Primitive::Polygon(corners) => {
            let points: Vec<String> =
                corners.iter().map(|[x, y]: &PixelPoint| format!("{x:.1},{y:.1}")).collect();
            let points = points.join(" ");
            write!(text, "<polygon points=\"{points}\" fill=\"{color}\" opacity=\"{opacity}\"")
        }
        Primitive::Line { from, to, width } => write!(
            text,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\" \
             stroke-width=\"{width}\" opacity=\"{opacity}\"",
            from[0], from[1], to[0], to[1]
        ),
        Primitive::Text { at: [x, y], text: words, large, centered, halo } => {
            let size = if *large { 18 } else { 12 };
            let anchor = if *centered { "middle" } else { "start" };
            let words = escaped(words);
            let rim = if *halo {
                format!(
                    " font-weight=\"bold\" paint-order=\"stroke\" stroke=\"{}\" stroke-width=\"3\"",
                    hex(BACKGROUND)
                )
            } else {
                String::new()
            };
            let _ = writeln!(
                text,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
                 fill=\"{color}\"{rim}>{words}</text>"
            );
            return;
        }
    };
    let tag = match shape.primitive {
        Primitive::Disc { .. } => "circle",
        Primitive::Polygon(_) => "polygon",
        Primitive::Line { .. } | Primitive::Text { .. } => "line",
    };
    if shape.name.is_empty() {
        text.push_str("/>\n");
    } else {
        let _ = writeln!(text, "><title>{}</title></{tag}>", escaped(&shape.name));
    }
}

fn hex([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Escapes markup, and removes characters that XML forbids.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            ' '..='~' => escaped.push(char),
            _ => {}
        }
    }
    escaped
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_reference_values() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn map_names_are_escaped_in_svg() {
        assert_eq!(escaped("<a b=\"&\u{7}\u{e9}\">"), "&lt;a b=&quot;&amp;&quot;&gt;");
    }
}
