// A request as code.

package reference

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// KeyMark stands in samples where the API key belongs.
const KeyMark = "YOUR_API_KEY"

// Request is one that samples make.
type Request struct {
	Method, URL string
	Headers     []Header
	Body        string // JSON; what is none is sent as it is. Empty for none
	Stream      bool   // the answer is events
}

// Header is one of a request.
type Header struct {
	Name, Value string
}

// Sample is a request in one language.
type Sample struct {
	ID, Language string
	Code         string
}

// RequestTo returns a request for the operation at a gateway's address, with the values of parameters and a body.
// What is empty stays out of the query and the headers, and in the path its name stays.
func (o *Operation) RequestTo(base string, value func(Field) string, body string) Request {
	made, path, query := Request{Method: o.Method, Stream: o.Stream}, o.Path, url.Values{}
	if o.Audience != Everybody {
		made.Headers = append(made.Headers, Header{"x-api-key", KeyMark})
	}
	for _, parameter := range o.Parameters {
		given := value(parameter)
		switch {
		case given == "":
		case parameter.Where == "path":
			path = strings.ReplaceAll(path, "{"+parameter.Name+"}", url.PathEscape(given))
		case parameter.Where == "query":
			query.Set(parameter.Name, given)
		default:
			made.Headers = append(made.Headers, Header{parameter.Name, oneLine(given)})
		}
	}
	made.URL = strings.TrimRight(base, "/") + path
	if len(query) > 0 {
		made.URL += "?" + query.Encode()
	}
	if o.Body != nil {
		made.Body = strings.TrimSpace(body)
	}
	if made.Body != "" {
		made.Headers = append(made.Headers, Header{"content-type", "application/json"})
	}
	return made
}

// oneLine is the value of a header: it has no line break.
func oneLine(value string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(value) }

// ExampleOf is the value of a parameter in examples: what must be given is.
func ExampleOf(parameter Field) string {
	if !parameter.Required {
		return ""
	}
	return parameter.Example
}

// Samples are the request in every language.
func (r Request) Samples() []Sample {
	return []Sample{
		{"curl", "curl", r.curl()},
		{"node", "Node", r.node()},
		{"python", "Python", r.python()},
		{"php", "PHP", r.php()},
		{"go", "Go", r.goCode()},
	}
}

// curl is a command for a POSIX shell.
func (r Request) curl() string {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	parts := []string{"curl"}
	if r.Stream {
		parts[0] += " -N"
	}
	if r.Method != http.MethodGet && (r.Method != http.MethodPost || r.Body == "") { // the method that curl uses by itself
		parts[0] += " -X " + r.Method
	}
	parts[0] += " " + quote(r.URL)
	for _, header := range r.Headers {
		parts = append(parts, "-H "+quote(header.Name+": "+header.Value))
	}
	switch {
	case strings.HasPrefix(r.Body, "@"): // which -d takes for the name of a file
		parts = append(parts, "--data-raw "+quote(r.Body))
	case r.Body != "":
		parts = append(parts, "-d "+quote(r.Body))
	}
	return strings.Join(parts, " \\\n  ")
}

// node is a module of JavaScript without any library.
func (r Request) node() string {
	quote := jsonString // a string of JSON is one of JavaScript
	var code strings.Builder
	code.WriteString("const response = await fetch(" + quote(r.URL))
	var options []string
	if r.Method != http.MethodGet {
		options = append(options, "method: "+quote(r.Method))
	}
	if len(r.Headers) > 0 {
		options = append(options, "headers: {"+spaced(r.pairs(quote, ": "))+"}")
	}
	if value, ok := parse(r.Body); ok {
		options = append(options, "body: JSON.stringify("+value.write(javascript, "  ")+")")
	} else if r.Body != "" {
		options = append(options, "body: "+quote(r.Body))
	}
	if len(options) > 0 {
		code.WriteString(", {\n  " + strings.Join(options, ",\n  ") + ",\n}")
	}
	code.WriteString(");\n")
	if r.Stream {
		code.WriteString("for await (const part of response.body) process.stdout.write(part);")
	} else {
		code.WriteString("console.log(response.status, await response.text());")
	}
	return code.String()
}

// python is a program of Python 3 without any library.
func (r Request) python() string {
	quote := jsonString // a string of JSON is one of Python
	var code strings.Builder
	value, isJSON := parse(r.Body)
	if isJSON {
		code.WriteString("import json\n")
	}
	code.WriteString("import urllib.request\n\nrequest = urllib.request.Request(\n    " + quote(r.URL) + ",\n    method=" + quote(r.Method) + ",\n")
	if len(r.Headers) > 0 {
		code.WriteString("    headers={" + r.pairs(quote, ": ") + "},\n")
	}
	switch {
	case isJSON:
		code.WriteString("    data=json.dumps(" + value.write(python, "    ") + ").encode(),\n")
	case r.Body != "":
		code.WriteString("    data=" + quote(r.Body) + ".encode(),\n")
	}
	code.WriteString(")\nwith urllib.request.urlopen(request) as response:\n")
	if r.Stream {
		code.WriteString("    for line in response:\n        print(line.decode(), end=\"\")")
	} else {
		code.WriteString("    print(response.status, response.read().decode())")
	}
	return code.String()
}

// php is a script of PHP without any extension: many lack that of curl.
func (r Request) php() string {
	options := []string{"'method' => " + phpString(r.Method)}
	if len(r.Headers) > 0 {
		var headers []string
		for _, header := range r.Headers {
			headers = append(headers, phpString(header.Name+": "+header.Value))
		}
		options = append(options, "'header' => ["+strings.Join(headers, ", ")+"]")
	}
	if value, ok := parse(r.Body); ok {
		options = append(options, "'content' => json_encode("+value.write(php, "    ")+")")
	} else if r.Body != "" {
		options = append(options, "'content' => "+phpString(r.Body))
	}
	options = append(options, "'ignore_errors' => true") // the answer of a refusal says why
	read := "echo file_get_contents("
	if r.Stream {
		read = "readfile("
	}
	return "<?php\n$request = stream_context_create(['http' => [\n    " + strings.Join(options, ",\n    ") + ",\n]]);\n" +
		read + phpString(r.URL) + ", false, $request);"
}

// goCode is a program of Go without any library.
func (r Request) goCode() string {
	imports, body := []string{"io", "net/http", "os"}, "nil"
	if r.Body != "" {
		imports = append(imports, "strings")
		body = "strings.NewReader(" + goString(r.Body) + ")"
	}
	var headers strings.Builder
	for _, header := range r.Headers {
		headers.WriteString("\trequest.Header.Set(" + strconv.Quote(header.Name) + ", " + strconv.Quote(header.Value) + ")\n")
	}
	return "package main\n\nimport (\n\t\"" + strings.Join(imports, "\"\n\t\"") + "\"\n)\n\nfunc main() {\n" +
		"\trequest, err := http.NewRequest(" + strconv.Quote(r.Method) + ", " + strconv.Quote(r.URL) + ", " + body + ")\n" +
		"\tif err != nil {\n\t\tpanic(err)\n\t}\n" + headers.String() +
		"\tresponse, err := http.DefaultClient.Do(request)\n" +
		"\tif err != nil {\n\t\tpanic(err)\n\t}\n" +
		"\tdefer response.Body.Close()\n" +
		"\t_, _ = io.Copy(os.Stdout, response.Body)\n}"
}

// pairs are the headers as the inside of a map.
func (r Request) pairs(quote func(string) string, between string) string {
	var pairs []string
	for _, header := range r.Headers {
		pairs = append(pairs, quote(header.Name)+between+quote(header.Value))
	}
	return strings.Join(pairs, ", ")
}

func spaced(text string) string { return " " + text + " " }

// jsonString is a text as a string of JSON.
func jsonString(text string) string {
	var quoted strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // texts have no errors
	return strings.TrimSuffix(quoted.String(), "\n")
}

func phpString(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// goString is a text as a string of Go: as it is written, where that is possible.
func goString(text string) string {
	if strings.Contains(text, "\n") && strconv.CanBackquote(strings.NewReplacer("\n", "", "\t", "").Replace(text)) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}
