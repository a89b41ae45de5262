// A document becomes a page.

package docpages

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/recado-project/recado/sdks"
)

// content is a document as its page shows it.
type content struct {
	Title     string
	Pieces    []piece
	Headings  []heading  // that "On this page" lists
	Languages []language // that its examples are in; empty for none but what is written

	sections []section
}

// piece is a part of a page: HTML, and the id of a block of code with which it ends; empty for none. The button that copies
// the block is in the visitor's language, and so is no part of the HTML.
type piece struct {
	HTML template.HTML
	Copy string
}

// heading is one that "On this page" lists.
type heading struct {
	Anchor, Text string
	Deep         bool // it is below another one
}

// section is a heading with what stands below it, as the search sees it.
type section struct {
	anchor, heading, text string
}

// maxListed bounds the headings of "On this page": a document with more lists those of the second level alone.
const maxListed = 60

// cut separates pieces while they are rendered. No document has it: Markdown knows no such character.
const cut = "\x00"

// newMarkdown makes what reads and renders documents. Raw HTML is left out.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(ownLooks{}, 1))), // before the library's
	)
}

// parse reads a document.
func (b *book) parse(p *page) (source []byte, document ast.Node, err error) {
	if source, err = fs.ReadFile(b.files, p.file); err != nil {
		return nil, nil, fmt.Errorf("docpages: read document: %w", err)
	}
	return source, b.markdown.Parser().Parse(text.NewReader(source)), nil
}

// render makes the page of a document.
func (b *book) render(p *page) (*content, error) {
	source, document, err := b.parse(p)
	if err != nil {
		return nil, err
	}
	made := &content{sections: []section{{}}}
	made.readSections(source, document, func(anchor string) string { return b.shared(p, anchor) })
	if err := b.prepare(p, document); err != nil {
		return nil, err
	}
	if p.name == guideName {
		markSteps(source, document)
		made.Languages = languages()
	}
	var page bytes.Buffer
	if err := b.markdown.Renderer().Render(&page, source, document); err != nil {
		return nil, fmt.Errorf("docpages: render %s: %w", p.file, err)
	}
	parts := strings.Split(page.String(), cut)
	for i := 0; i < len(parts); i += 2 {
		one := piece{HTML: template.HTML(parts[i])} //nolint:gosec // the library has escaped it
		if i+1 < len(parts) {
			one.Copy = parts[i+1]
		}
		made.Pieces = append(made.Pieces, one)
	}
	return made, nil
}

// readSections reads the headings, gives them their anchors, and collects what stands below each. shared makes an
// anchor the one of all languages.
func (c *content) readSections(source []byte, document ast.Node, shared func(string) string) {
	taken := anchors{}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		last := &c.sections[len(c.sections)-1]
		title, ok := node.(*ast.Heading)
		if !ok {
			last.text = strings.TrimSpace(last.text + " " + plain(source, node))
			continue
		}
		words := plain(source, title)
		anchor := shared(taken.add(words))
		title.SetAttributeString("id", []byte(anchor))
		if title.Level == 1 && c.Title == "" {
			c.Title = words
			last.heading = words
			continue
		}
		c.sections = append(c.sections, section{anchor: anchor, heading: words})
		if title.Level <= 3 {
			c.Headings = append(c.Headings, heading{Anchor: anchor, Text: words, Deep: title.Level == 3})
		}
	}
	if len(c.Headings) > maxListed {
		all := c.Headings
		c.Headings = nil
		for _, one := range all {
			if !one.Deep {
				c.Headings = append(c.Headings, one)
			}
		}
	}
}

// prepare changes what is shown in another way than it is written: links lead to pages, blocks of code have a name,
// and remarks for those who write are gone.
func (b *book) prepare(p *page, document ast.Node) error {
	blocks := 0
	var remarks []ast.Node
	err := ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Link:
			to, outside := b.link(p.file, string(node.Destination))
			node.Destination = []byte(to)
			if outside {
				node.SetAttributeString("rel", []byte("noreferrer"))
			}
		case *ast.AutoLink:
			node.SetAttributeString("rel", []byte("noreferrer"))
		case *ast.Image:
			to, _ := b.link(p.file, string(node.Destination))
			node.Destination = []byte(to)
			node.SetAttributeString("loading", []byte("lazy"))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			blocks++
			node.SetAttributeString("id", []byte("docs-code-"+strconv.Itoa(blocks)))
		case *ast.HTMLBlock:
			remarks = append(remarks, node)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return fmt.Errorf("docpages: prepare %s: %w", p.file, err)
	}
	for _, remark := range remarks {
		remark.Parent().RemoveChild(remark.Parent(), remark)
	}
	return nil
}

// guideName is the page whose examples there are programs of, step by step.
const guideName = "guide"

// language is one that the reader may choose, for examples or for samples.
type language struct{ ID, Language string }

// languages are those of the guide's examples.
func languages() []language {
	all := []language{{"curl", "curl"}}
	for _, one := range sdks.Languages() {
		all = append(all, language{one.ID, one.Name})
	}
	return all
}

// markSteps gives each example of the guide its number among them. They are in the same order in every language that it
// is written in, and in the programs.
func markSteps(source []byte, document ast.Node) {
	steps := 0
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if fenced, ok := node.(*ast.FencedCodeBlock); ok && string(fenced.Language(source)) == "sh" {
			fenced.SetAttributeString("step", steps)
			steps++
		}
	}
}

// plain is the text of a node without its markup.
func plain(source []byte, node ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			if node.Type() == ast.TypeBlock {
				out.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Text:
			value := node.Segment.Value(source)
			if node.Parent().Kind() != ast.KindCodeSpan {
				value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
			}
			out.Write(value)
			if node.SoftLineBreak() || node.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(node.Value)
		case *ast.AutoLink:
			out.Write(node.Label(source))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			out.Write(node.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(out.String()), " ")
}

// ownLooks renders what looks other than the library would have it.
type ownLooks struct{}

// RegisterFuncs tells the library what is rendered here.
func (l ownLooks) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindHeading, l.heading)
	register.Register(ast.KindFencedCodeBlock, l.code)
	register.Register(ast.KindCodeBlock, l.code)
	register.Register(tables.KindTable, l.table)
	register.Register(tables.KindTableCell, l.cell)
}

// heading is a link to itself, so that one can point to it.
func (ownLooks) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	title := node.(*ast.Heading) //nolint:forcetypeassert // the library calls it for headings
	anchor := util.EscapeHTML(attribute(node, "id"))
	linked := title.Level > 1 && !hasLink(node)
	if entering {
		_, _ = fmt.Fprintf(w, `<h%d id="%s">`, title.Level, anchor)
		if linked {
			_, _ = fmt.Fprintf(w, `<a href="#%s">`, anchor)
		}
		return ast.WalkContinue, nil
	}
	if linked {
		_, _ = w.WriteString("</a>")
	}
	_, _ = fmt.Fprintf(w, "</h%d>\n", title.Level)
	return ast.WalkContinue, nil
}

// attribute returns an attribute of a node that is bytes; empty for none.
func attribute(node ast.Node, name string) []byte {
	value, _ := node.AttributeString(name)
	content, _ := value.([]byte)
	return content
}

// hasLink reports whether there is a link in a node.
func hasLink(node ast.Node) bool {
	for inner := node.FirstChild(); inner != nil; inner = inner.NextSibling() {
		if inner.Kind() == ast.KindLink || inner.Kind() == ast.KindAutoLink {
			return true
		}
	}
	return false
}

// prompt is before a command in blocks that show a terminal.
const prompt = "$ "

// code is a block of code that can be copied. The prompt of a terminal is not copied.
func (ownLooks) code(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	id := attribute(node, "id")
	terminal := false
	if fenced, ok := node.(*ast.FencedCodeBlock); ok {
		terminal = string(fenced.Language(source)) == "console"
	}
	step, isStep := node.AttributeString("step")
	if isStep {
		_, _ = fmt.Fprintf(w, `<div class="code" data-language="curl"><pre tabindex="0" id="%s">`, id)
	} else {
		_, _ = fmt.Fprintf(w, `<div class="code"><pre tabindex="0" id="%s">`, id)
	}
	for i, line := range strings.Split(strings.TrimRight(string(node.Lines().Value(source)), "\n"), "\n") {
		if i > 0 {
			_ = w.WriteByte('\n')
		}
		command, typed := strings.CutPrefix(line, prompt)
		if typed = typed && terminal; typed {
			_, _ = w.WriteString(`<span class="typed">` + template.HTMLEscapeString(command) + `</span>`)
			continue
		}
		_, _ = w.WriteString(template.HTMLEscapeString(line))
	}
	_, _ = w.WriteString("</pre>" + cut + string(id) + cut + "</div>\n")
	if number, ok := step.(int); ok {
		for _, language := range sdks.Languages() {
			if steps := language.Steps(); number < len(steps) {
				_, _ = fmt.Fprintf(w, `<div class="code" data-language="%[1]s"><pre tabindex="0" id="%[2]s-%[1]s">%[3]s</pre>%[4]s%[2]s-%[1]s%[4]s</div>`+"\n",
					language.ID, id, template.HTMLEscapeString(steps[number].Code), cut)
			}
		}
	}
	return ast.WalkContinue, nil
}

// table is scrolled by itself where it is too wide.
func (ownLooks) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="scroll" tabindex="0"><table>` + "\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// cell is a cell of a table. Only one with a text is a heading, and the policy of the pages forbids styles of its own.
func (ownLooks) cell(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, open := "td", "<td"
	if node.Parent().Kind() == tables.KindTableHeader && node.FirstChild() != nil {
		tag, open = "th", `<th scope="col"`
	}
	if !entering {
		_, _ = w.WriteString("</" + tag + ">\n")
		return ast.WalkContinue, nil
	}
	if cell, ok := node.(*tables.TableCell); ok && cell.Alignment == tables.AlignRight {
		open += ` class="right"`
	}
	_, _ = w.WriteString(open + ">")
	return ast.WalkContinue, nil
}
