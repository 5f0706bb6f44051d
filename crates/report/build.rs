//! Extracts plotly.js from the `plotly` crate and compresses it as `plotly.js.gz`, so that a page can embed the library without
//! a network and without a copy in this repository. The crate's text also contains MathJax, 2 MB that our figures do not need;
//! only the first script is kept.

use std::io::Write as _;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let all = plotly::Plot::offline_js_sources();
    let library = first_script(&all)
        .ok_or("the plotly crate's offline sources no longer start with a script element")?;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(library.as_bytes())?;
    let target =
        PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo did not set OUT_DIR")?).join("plotly.js.gz");
    std::fs::write(target, encoder.finish()?)?;
    Ok(())
}

/// The text inside the first script element, checked to be plotly.js itself.
fn first_script(html: &str) -> Option<&str> {
    let start = html.find("<script")?;
    let body = start + html[start..].find('>')? + 1;
    let end = body + html[body..].find("</script>")?;
    let text = &html[body..end];
    text.contains("plotly.js v").then_some(text)
}
