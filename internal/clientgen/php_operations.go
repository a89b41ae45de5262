// The PHP client: a method for each operation.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// phpArgument is an argument of a method.
type phpArgument struct {
	name, in    string // in is what it is part of: path, query, headers or body
	origin      string // its name in the document
	description string
	kind        kind
	required    bool
	clearable   bool
}

// phpArguments are the arguments of an operation, those first that have to be given.
func phpArguments(m model, op operation) []phpArgument {
	var all []phpArgument
	add := func(in string, p parameter, required, clearable bool) {
		all = append(all, phpArgument{phpName(p.name), in, p.name, p.description, p.kind, required, clearable})
	}
	for _, p := range op.inPath {
		add("path", p, true, false)
	}
	for _, f := range m.object(op.body).fields {
		add("body", parameter{f.name, f.description, f.kind}, !f.optional || f.orFile, f.clearable)
	}
	for _, p := range op.query {
		add("query", p, false, false)
	}
	for _, p := range op.headers {
		add("headers", p, false, false)
	}
	if op.paged {
		add("query", parameter{"page", "Which page, from 1.", kind{base: anInteger}}, false, false)
		add("query", parameter{"limit", "How many items a page has.", kind{base: anInteger}}, false, false)
	}
	slices.SortStableFunc(all, func(a, b phpArgument) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		default:
			return 1
		}
	})
	return all
}

// phpCheck refuses operations that no method can be made of.
func phpCheck(m model, op operation) error {
	var seen []string
	for _, a := range phpArguments(m, op) {
		if slices.Contains(seen, a.name) {
			return fmt.Errorf("%s has two arguments %s", op.id, a.name)
		}
		seen = append(seen, a.name)
	}
	return nil
}

// operations writes the class with a method for each operation, and one for all items of each list.
func (p *phpFile) operations() {
	paragraphs := []string{"The operations of the API, which Recado carries out."}
	asked := p.model.asked()
	for _, o := range p.model.objects {
		if asked[o.name] && slices.ContainsFunc(o.uses, func(u use) bool { return u.role == asField }) {
			paragraphs = append(paragraphs, phpShape(o))
		}
	}
	p.doc("", paragraphs...)
	p.write("abstract class Operations\n{\n")
	for i, op := range p.model.operations {
		if i > 0 {
			p.write("\n")
		}
		p.method(op)
		if op.paged {
			p.write("\n")
			p.iterator(op)
		}
	}
	p.write(`
    /**
     * Makes a request, and returns the answer.
     *
     * @param array<string, mixed>      $query     without what is null
     * @param array<string, mixed>|null $body      likewise; null for none
     * @param array<string, mixed>      $clearable more of the body, without what is LeftOut
     * @param array<string, ?string>    $headers
     */
    abstract protected function call(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        array $clearable = [],
        array $headers = [],
    ): Json;
}
`)
}

// phpShape describes an array in place of an object, and its fields.
func phpShape(o object) string {
	text, described := "@phpstan-type "+o.name+" array{\n", ""
	for _, f := range o.fields {
		mark := ""
		if f.optional {
			mark = "?"
		}
		text += fmt.Sprintf("    %s%s: %s,\n", f.name, mark, phpDocType(f.kind, true))
		if f.description != "" {
			described += fmt.Sprintf("  - %s: %s\n", f.name, strings.Join(strings.Fields(f.description), " "))
		}
	}
	if described != "" {
		described = "Fields of " + o.name + ":\n" + described
	}
	return described + text + "}"
}

// method writes the method of an operation.
func (p *phpFile) method(op operation) {
	arguments := phpArguments(p.model, op)
	returned, documented, answer := "void", "", "%s"
	if o := p.model.object(op.answer); op.answer != "" {
		returned, answer = `Types\`+op.answer, `return new Types\`+op.answer+`(%s)`
		if o.item != "" && len(o.fields) == 0 {
			returned, documented, answer = "Page", `@return Page<Types\`+o.item+">", `return new Page(%s, Types\`+o.item+`::class)`
		}
	}
	codes := ""
	if len(op.codes) > 0 {
		codes = "Its refusals may have " + inWords(op.codes, "or") + ", and the codes of every operation."
	}
	paragraphs := append([]string{op.summary, op.description, codes}, phpParams(arguments)...)
	p.doc("    ", append(paragraphs, documented)...)
	p.signature(op.id, arguments, returned)
	p.write("        "+answer+";\n    }\n", p.call(op, arguments))
}

// phpParams are the lines of a method's comment that describe its arguments.
func phpParams(arguments []phpArgument) (lines []string) {
	for _, a := range arguments {
		if plain := a.kind.element == nil && a.kind.object == "" && a.kind.base != anyObject; a.description != "" || !plain {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("@param %s $%s %s", a.declared(true), a.name, a.description)))
		}
	}
	return lines
}

// declared is the type of an argument, in comments or in code.
func (a phpArgument) declared(comment bool) string {
	a.kind.nullable = false
	of := phpType(a.kind, true)
	if comment {
		of = phpDocType(a.kind, true)
	}
	switch {
	case a.clearable:
		return of + "|LeftOut|null"
	case a.required:
		return of
	case comment:
		return of + "|null"
	default:
		return "?" + of
	}
}

// signature writes a method up to its body.
func (p *phpFile) signature(name string, arguments []phpArgument, returned string) {
	if len(arguments) == 0 {
		p.write("    public function %s(): %s\n    {\n", name, returned)
		return
	}
	p.write("    public function %s(\n", name)
	for _, a := range arguments {
		value := ""
		switch {
		case a.clearable:
			value = " = LeftOut::Value"
		case !a.required:
			value = " = null"
		}
		p.write("        %s $%s%s,\n", a.declared(false), a.name, value)
	}
	p.write("    ): %s {\n", returned)
}

// call is the expression of a request.
func (p *phpFile) call(op operation, arguments []phpArgument) string {
	parts := map[string]string{}
	for _, a := range arguments {
		part, value := a.in, "$"+a.name
		if a.clearable {
			part = "clearable"
		}
		if b := a.kind.base; a.in == "body" && (b == anObject || b == aMap || b == anyObject) {
			value = "Json::object(" + value + ")" // an empty array is no object
		}
		parts[part] += fmt.Sprintf("                '%s' => %s,\n", a.origin, value)
	}
	lines := []string{"'" + op.method + "'", phpPath(op.path)}
	if op.body != "" && parts["body"] == "" {
		lines = append(lines, "body: []")
	}
	for _, part := range []string{"query", "body", "clearable", "headers"} {
		if parts[part] != "" {
			lines = append(lines, part+": [\n"+parts[part]+"            ]")
		}
	}
	if short := "$this->call(" + strings.Join(lines, ", ") + ")"; len(lines) == 2 && len(short) <= 80 {
		return short
	}
	return "$this->call(\n            " + strings.Join(lines, ",\n            ") + ",\n        )"
}

// phpPath is the expression of a path.
func phpPath(path string) string {
	var parts []string
	for path != "" {
		text, rest, _ := strings.Cut(path, "{")
		parts = append(parts, "'"+text+"'")
		name, after, found := strings.Cut(rest, "}")
		if found {
			parts = append(parts, "rawurlencode($"+phpName(name)+")")
		}
		path = after
	}
	if long := strings.Join(parts, " . "); len(long) <= 100 {
		return long
	}
	return strings.Join(parts, "\n                . ")
}

// iterator writes the method that yields all items of a list.
func (p *phpFile) iterator(op operation) {
	arguments := slices.DeleteFunc(phpArguments(p.model, op), func(a phpArgument) bool { return a.in == "query" && a.name == "page" })
	item := p.model.object(op.answer).item
	paragraphs := append([]string{"Yields all items of " + op.id + ", fetched page by page."}, phpParams(arguments)...)
	p.doc("    ", append(paragraphs, `@return \Generator<int, Types\`+item+">")...)
	p.signature(lowered(goName(strings.TrimPrefix(op.id, "list"))), arguments, `\Generator`)
	p.write("        return Page::all(fn (int $page) => $this->%s(\n", op.id)
	for _, a := range arguments {
		p.write("            %s: $%[1]s,\n", a.name)
	}
	p.write("            page: $page,\n        ));\n    }\n")
}
