package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/upload"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/share"
)

// MessageFiles are the use cases of the file of a message.
type MessageFiles interface {
	MediaLink(ctx context.Context, instanceID string, ref gateway.MessageRef, baseURL string) (messaging.DownloadLink, error)
	CheckFile(ctx context.Context, key string, fetch bool) error
}

// Files opens the files of download links.
type Files interface {
	Open(ctx context.Context, target *url.URL, check func(ctx context.Context, key string, fetch bool) error) (*media.Blob, error)
}

// MediaLink is a temporary link to the file of a message.
type MediaLink struct {
	URL       string `json:"url" doc:"The link. It needs no API key and works until it expires." example:"http://127.0.0.1:8080/media/019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11/019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2?expires=1795188130&name=invoice-1234.pdf&signature=QXl0aGluZyBlbHNlIGlzIHJlZnVzZWQuLi4uLi4uLi4"`
	ExpiresIn int    `json:"urlExpiresIn" doc:"Seconds until the link expires." example:"3600"`
	FileName  string `json:"fileName" doc:"Name of the file." example:"invoice-1234.pdf"`
}

// files is the resource of the files of messages: a link to one, and its download.
type files struct {
	use       MessageFiles
	uploads   *upload.Service
	files     Files // nil serves none
	instances *instance.Service
	requests  *share.Pool
	origin    contract.Origin
}

func (f files) downloadLink() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getMediaDownloadLink", Tag: tagMessages,
		Summary: "Get a download link",
		Description: "Fetches the file of a sent or received message from the platform and returns a link to it that expires. " +
			"The link needs no API key: anybody who has it can read the file, until it expires or the message is deleted.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeMessageNotFound, gateway.CodeMessageHasNoMedia,
			gateway.CodeMediaNotFound, gateway.CodePayloadTooLarge),
	}, func(ctx context.Context, in *checkedMessagePath) (MediaLink, error) {
		base, err := f.base(ctx)
		if err != nil {
			return MediaLink{}, err
		}
		link, err := f.use.MediaLink(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID), base)
		return MediaLink{URL: link.URL, ExpiresIn: link.ExpiresIn, FileName: link.FileName}, err
	})
}

// base is what links begin with.
func (f files) base(ctx context.Context) (string, error) {
	base, usable := f.origin.BaseURL(contract.Request(ctx))
	if !usable {
		return "", gateway.InvalidField("Host", "must be a host with or without a port, because links begin with it")
	}
	return base, nil
}

// Upload is a file that was uploaded.
type Upload struct {
	ID        string             `json:"id" doc:"Identifier of the upload: letters and digits. Sends take upload: and this in place of a URL." example:"5f0c1d7e9a3b4c2d8e6f7a1b2c3d4e5f"`
	MimeType  string             `json:"mimeType" doc:"The type of the content." example:"application/pdf"`
	FileName  string             `json:"fileName" doc:"Name of the file." example:"invoice-1234.pdf"`
	Size      int64              `json:"size" doc:"Bytes of the file." example:"48213"`
	SHA256    string             `json:"sha256" doc:"The SHA-256 hash of the content, in hexadecimal digits." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	CreatedAt contract.Timestamp `json:"createdAt"`
	ExpiresAt contract.Timestamp `json:"expiresAt" doc:"When it is deleted: 30 days after it was uploaded."`
}

func newUpload(of upload.Upload) Upload {
	return Upload{
		of.ID, of.MimeType, of.FileName, of.Size, hex.EncodeToString(of.SHA256), contract.Timestamp(of.CreatedAt), contract.Timestamp(of.ExpiresAt),
	}
}

type newUploadBody struct {
	Media    string `json:"media" minLength:"1" format:"media" doc:"The file: a base64 data URI, or an http(s) URL." example:"https://shop.example/invoice.pdf"`
	FileName string `json:"fileName,omitempty" doc:"Name of the file. If left out: the last part of the URL, or else \"document\" with the usual extension." example:"invoice-1234.pdf"`
}

func (f files) upload() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createUpload", Tag: tagUploads,
		Summary: "Upload a file",
		Description: "Keeps a file for 30 days, so that it can be sent many times: every field of a send that takes a URL takes upload:<id> as well. " +
			"All API keys of the account can use it. The type of the file is detected from its content; what it can be sent as is checked when it is sent.",
		Status: http.StatusCreated, Codes: []string{gateway.CodeMediaFetchFailed, gateway.CodeUploadLimit},
	}, func(ctx context.Context, in *contract.JSON[newUploadBody]) (Upload, error) {
		given := in.Given()
		hints := media.Hints{Field: "media", FileName: given.FileName, Decoded: contract.Media(ctx)}
		return contract.Answered(newUpload)(f.uploads.Create(ctx, contract.Key(ctx).AccountID, given.Media, hints))
	})
}

// UploadPath is the path of an upload.
type UploadPath struct {
	UploadID string `path:"uploadId" doc:"Identifier of the upload." example:"5f0c1d7e9a3b4c2d8e6f7a1b2c3d4e5f"`
}

func (f files) listUploads() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listUploads", Tag: tagUploads,
		Summary: "List uploads", Description: "Lists the files that the account has uploaded, oldest first. Needs a key that is not limited to certain instances: with the others, an upload is used by whoever knows its ID.",
		Codes: []string{gateway.CodeValidation, gateway.CodeForbidden},
	}, func(ctx context.Context, in *contract.Paging) (contract.Envelope[Upload], error) {
		if err := needsWholeAccount(ctx); err != nil {
			return contract.Envelope[Upload]{}, err
		}
		return contract.Listed(*in, newUpload)(f.uploads.List(ctx, contract.Key(ctx).AccountID, in.Request()))
	})
}

func (f files) getUpload() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getUpload", Tag: tagUploads,
		Summary: "Get an upload", Description: "Returns an upload, as in the list.",
		Codes: []string{gateway.CodeUploadNotFound},
	}, func(ctx context.Context, in *UploadPath) (Upload, error) {
		return contract.Answered(newUpload)(f.uploads.Get(ctx, contract.Key(ctx).AccountID, in.UploadID))
	})
}

func (f files) uploadLink() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getUploadDownloadLink", Tag: tagUploads,
		Summary:     "Get a download link of an upload",
		Description: "Returns a link to the file that expires. The link needs no API key: anybody who has it can read the file, until it expires or the upload is deleted.",
		Codes:       []string{gateway.CodeUploadNotFound, gateway.CodeValidation},
	}, func(ctx context.Context, in *UploadPath) (MediaLink, error) {
		base, err := f.base(ctx)
		if err != nil {
			return MediaLink{}, err
		}
		found, link, lifetime, err := f.uploads.Link(ctx, contract.Key(ctx).AccountID, in.UploadID, base)
		return MediaLink{URL: link, ExpiresIn: int(lifetime.Seconds()), FileName: found.FileName}, err
	})
}

func (f files) deleteUpload() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "deleteUpload", Tag: tagUploads,
		Summary: "Delete an upload", Description: "Deletes a file before its time. Messages that were sent with it, or wait to be sent, keep theirs.",
		Codes: []string{gateway.CodeUploadNotFound},
	}, func(ctx context.Context, in *UploadPath) error {
		return f.uploads.Delete(ctx, contract.Key(ctx).AccountID, in.UploadID)
	})
}

// download serves the file of a link. A link needs no API key, and the answer is not
// JSON, so this is not an operation of huma.
func (f files) download() contract.Endpoint {
	parameter := func(name, in, description, example string, required bool) *huma.Param {
		return &huma.Param{
			Name: name, In: in, Description: description, Required: required,
			Schema: &huma.Schema{Type: huma.TypeString}, Example: example,
		}
	}
	documented := &huma.Operation{
		OperationID: "downloadFile", Tags: []string{tagMessages},
		Summary: "Download a file",
		Description: "The target of a download link. It needs no API key: the signature grants access. A link of an event fetches the file from the platform when it is followed first. Range requests are supported. " +
			"The link of an upload has uploads in place of the instance. Where files are kept in a bucket, the answer may lead to it with a URL that works for a few minutes: follow it.",
		Security: []map[string][]string{},
		Parameters: []*huma.Param{
			parameter("instanceId", "path", "Identifier of the instance.", "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11", true),
			parameter("messageId", "path", "Internal identifier of the message.", "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", true),
			parameter("expires", "query", "When the link expires, Unix time in seconds.", "1795188130", true),
			parameter("name", "query", "Name of the file.", "invoice-1234.pdf", true),
			parameter("signature", "query", "Signature of the whole link.", "QXl0aGluZyBlbHNlIGlzIHJlZnVzZWQuLi4uLi4uLi4", true),
			parameter("Range", "header", "A part of the file.", "bytes=0-1023", false),
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "The file.", Content: map[string]*huma.MediaType{"*/*": {}}},
			"206": {Description: "A part of the file.", Content: map[string]*huma.MediaType{"*/*": {}}},
			"307": {Description: "The file is at the URL in Location for a few minutes.", Headers: map[string]*huma.Param{
				"Location": {Description: "Where the file is.", Schema: &huma.Schema{Type: huma.TypeString}},
			}},
		},
	}
	codes := sessionCodes(gateway.CodeForbidden, gateway.CodeNotFound, gateway.CodeMediaNotFound, gateway.CodeMessageNotFound,
		gateway.CodeOutOfRange, gateway.CodePayloadTooLarge, gateway.CodeUnavailable, gateway.CodeInternal)
	var handler http.HandlerFunc
	if f.files != nil {
		handler = f.serveFile
	}
	return contract.Raw("/media/{instanceId}/{messageId}", documented, codes, handler)
}

// serveFile answers the file of a link, whole or in ranges.
func (f files) serveFile(w http.ResponseWriter, r *http.Request) {
	file, err := f.files.Open(r.Context(), r.URL, f.check)
	if err != nil {
		contract.Fail(w, r, err)
		return
	}
	defer func() {
		_ = file.Close() // it was only read
	}()
	header := w.Header()
	if file.Presign != nil && r.Method == http.MethodGet {
		elsewhere, err := file.Presign(r.Context(), media.Answer{
			ContentType: file.MimeType, ContentDisposition: contentDisposition(file.FileName), CacheControl: "private",
		})
		if err != nil {
			contract.Fail(w, r, err)
			return
		}
		header.Set("Cache-Control", "no-store") // the next request is checked again
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Location", elsewhere)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	header.Set("Content-Type", file.MimeType)
	header.Set("Content-Disposition", contentDisposition(file.FileName))
	header.Set("Cache-Control", "private")
	// Strangers made these files, and the reference page is on the same host.
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	guarded := &rangeGuard{ResponseWriter: w}
	http.ServeContent(guarded, r, "", file.Created, file)
	if guarded.refused {
		header.Del("Content-Disposition") // the answer is not the file
		contract.Fail(w, r, gateway.Errorf(gateway.OutOfRange, gateway.CodeOutOfRange,
			"the range %s can't be served: the file has %d bytes", r.Header.Get("Range"), file.Size))
	}
}

// check is CheckFile on behalf of the account that the file belongs to, which has a place among the
// requests until the file is served: the link is right, and has no key.
func (f files) check(ctx context.Context, key string, fetch bool) error {
	instanceID, _, _ := strings.Cut(key, "/")
	accountID, uploaded := media.UploadAccount(key)
	if uploaded {
		ctx = gateway.WithRequester(ctx, gateway.Requester{AccountID: accountID, ID: accountID, Kind: "this account"})
	} else if found, err := f.instances.Get(ctx, instanceID); err == nil { // else CheckFile says what is wrong
		ctx = gateway.WithRequester(ctx, gateway.Requester{AccountID: found.AccountID, ID: found.ID, Kind: "this instance"})
	}
	if err := contract.HoldToEnd(ctx, f.requests); err != nil {
		return err
	}
	if uploaded {
		return nil // an upload is there as long as its file
	}
	return f.use.CheckFile(ctx, key, fetch)
}

// rangeGuard drops the plain text with which http.ServeContent refuses a range, so
// that the refusal can be answered like every other one. Its headers stay, above all
// Content-Range.
type rangeGuard struct {
	http.ResponseWriter

	refused bool
}

// WriteHeader passes on every status except that of a refused range.
func (g *rangeGuard) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		g.refused = true
		return
	}
	g.ResponseWriter.WriteHeader(status)
}

// Write drops the text of the refusal.
func (g *rangeGuard) Write(data []byte) (int, error) {
	if g.refused {
		return len(data), nil
	}
	return g.ResponseWriter.Write(data)
}

// contentDisposition asks a client to save a file under its name (RFC 6266): the full
// name for clients that read UTF-8, the nearest one in ASCII for others.
func contentDisposition(fileName string) string {
	fileName = gateway.CleanFileName(fileName)
	if fileName == "" {
		return "attachment"
	}
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, fileName)
	return `attachment; filename="` + plain + `"; filename*=UTF-8''` + escapeExtended(fileName)
}

// escapeExtended spells a value as RFC 5987 does.
func escapeExtended(value string) string {
	const allowed = "!#$&+-.^_`|~"
	var out strings.Builder
	for _, b := range []byte(value) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte(allowed, b) >= 0 {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}
