// The files of requests.

package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"strings"
)

// A field for a file is a base64 data URI, which DataURI makes, or an http(s) URL that the gateway can
// reach; or a File, which is not held in memory.

// File is a file to send. It is read once, to its end.
type File struct {
	Content io.Reader
	Name    string // the name of a document, if FileName gives none
}

// DataURI makes a media input of the content of a file. The gateway detects the type
// itself, so "application/octet-stream" will do for an unknown one.
func DataURI(mimeType string, content []byte) string {
	const head, marker = "data:", ";base64,"
	var uri strings.Builder
	uri.Grow(len(head) + len(mimeType) + len(marker) + base64.StdEncoding.EncodedLen(len(content)))
	uri.WriteString(head + mimeType + marker)
	encoder := base64.NewEncoder(base64.StdEncoding, &uri)
	_, _ = encoder.Write(content) // writing to a Builder never fails
	_ = encoder.Close()
	return uri.String()
}

// ReadDataURI makes a media input of everything that it reads from content.
func ReadDataURI(mimeType string, content io.Reader) (string, error) {
	all, err := io.ReadAll(content)
	if err != nil {
		return "", fmt.Errorf("read media: %w", err)
	}
	return DataURI(mimeType, all), nil
}

// newForm makes the body of a request with a file, and its type. The file is read while the
// body is. The fields are those of a JSON object.
func newForm(object []byte, file File) (body io.Reader, contentType string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, "", fmt.Errorf("encode the request: %w", err)
	}
	var head bytes.Buffer
	form := multipart.NewWriter(&head) // writing to a buffer never fails
	for name, value := range fields {
		for _, text := range formTexts(value) {
			_ = form.WriteField(name, text)
		}
	}
	if file.Name == "" {
		_, _ = form.CreateFormField("file")
	} else {
		_, _ = form.CreateFormFile("file", file.Name)
	}
	begun := bytes.Clone(head.Bytes())
	head.Reset()
	_ = form.Close()
	return io.MultiReader(bytes.NewReader(begun), file.Content, &head), form.FormDataContentType(), nil
}

// formTexts are the texts of a field: several of a list, none of null.
func formTexts(value json.RawMessage) []string {
	var text string
	var list []json.RawMessage
	switch {
	case string(value) == "null":
		return nil
	case json.Unmarshal(value, &text) == nil:
		return []string{text}
	case json.Unmarshal(value, &list) == nil:
		var texts []string
		for _, item := range list {
			texts = append(texts, formTexts(item)...)
		}
		return texts
	default:
		return []string{string(value)}
	}
}
