// Templates of an account, and messages that are made of them.

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/template"
)

// templates is the resource of templates.
type templates struct {
	use  *template.Service
	send sending
}

// Template is a message that is prepared, in one language.
type Template struct {
	ID              string              `json:"id" doc:"Identifier: decimal digits." example:"4810275936618402"`
	Name            string              `json:"name" example:"order_shipped"`
	Language        string              `json:"language" example:"pt_BR"`
	Category        string              `json:"category" example:"UTILITY"`
	ParameterFormat string              `json:"parameterFormat" doc:"What parameters are called: POSITIONAL for {{1}}, NAMED for {{name}}." example:"POSITIONAL"`
	Components      []TemplateComponent `json:"components" nullable:"false"`
	CreatedAt       contract.Timestamp  `json:"createdAt"`
}

// TemplateComponent is a part of a template.
type TemplateComponent struct {
	Type    string           `json:"type" enum:"HEADER,BODY,FOOTER,BUTTONS" doc:"Which part it is." example:"BODY"`
	Format  *string          `json:"format" nullable:"true" enum:"TEXT,IMAGE,VIDEO,DOCUMENT" doc:"Of a header: whether it is a text, or a file that comes with each message; null for the others." sample:"-"`
	Text    string           `json:"text" doc:"The text; {{1}} or {{name}} stands for a parameter. Empty for files and buttons." example:"Olá {{1}}, o pedido {{2}} saiu para entrega."`
	Buttons []TemplateButton `json:"buttons" nullable:"false" doc:"Of BUTTONS; empty for the others."`
}

// TemplateButton is a button of a template.
type TemplateButton struct {
	Type        string  `json:"type" enum:"QUICK_REPLY,URL,PHONE_NUMBER,COPY_CODE" doc:"What it does." example:"URL"`
	Text        string  `json:"text" doc:"What it says." example:"Acompanhar"`
	URL         *string `json:"url" nullable:"true" doc:"Of URL: an address, which may have a parameter at its end." example:"https://shop.example/orders/{{1}}"`
	PhoneNumber *string `json:"phoneNumber" nullable:"true" doc:"Of PHONE_NUMBER: with country code." sample:"-"`
	Example     *string `json:"example" nullable:"true" doc:"Of COPY_CODE: the code that is sent if a message has no other." sample:"-"`
}

func newTemplate(of template.Template) Template {
	shown := Template{
		ID: of.ID, Name: of.Name, Language: of.Language, Category: of.Category, ParameterFormat: string(of.Parameters),
		Components: make([]TemplateComponent, len(of.Components)), CreatedAt: contract.Timestamp(of.CreatedAt),
	}
	for n, c := range of.Components {
		part := TemplateComponent{Type: string(c.Part), Format: contract.TextOrNil(string(c.Format)), Text: c.Text, Buttons: make([]TemplateButton, len(c.Buttons))}
		for i, b := range c.Buttons {
			part.Buttons[i] = TemplateButton{
				Type: string(b.Does), Text: b.Text, URL: contract.TextOrNil(b.URL), PhoneNumber: contract.TextOrNil(b.PhoneNumber), Example: contract.TextOrNil(b.Example),
			}
		}
		shown.Components[n] = part
	}
	return shown
}

// NewTemplateComponent is a part of a template that is to be made.
type NewTemplateComponent struct {
	Type    string              `json:"type" enum:"HEADER,BODY,FOOTER,BUTTONS" doc:"Which part it is. Each may be there once; the body has to." example:"BODY"`
	Format  string              `json:"format,omitempty" enum:"TEXT,IMAGE,VIDEO,DOCUMENT" doc:"Of a header: whether it is a text, or a file that comes with each message." sample:"-"`
	Text    string              `json:"text,omitempty" maxLength:"1024" doc:"The text; {{1}} or {{name}} stands for a parameter. At most 60 characters for a header or footer." example:"Olá {{1}}, o pedido {{2}} saiu para entrega."`
	Buttons []NewTemplateButton `json:"buttons,omitempty" nullable:"false" maxItems:"10" doc:"Of BUTTONS: 1 to 10. They become lines of the text, as phones show no buttons of a linked device." sample:"-"`
}

// NewTemplateButton is a button of a template that is to be made.
type NewTemplateButton struct {
	Type        string `json:"type" enum:"QUICK_REPLY,URL,PHONE_NUMBER,COPY_CODE" doc:"What it does." example:"URL"`
	Text        string `json:"text,omitempty" maxLength:"25" doc:"What it says." example:"Acompanhar"`
	URL         string `json:"url,omitempty" maxLength:"2000" doc:"Of URL: an address, which may have a parameter at its end." example:"https://shop.example/orders/{{1}}"`
	PhoneNumber string `json:"phoneNumber,omitempty" maxLength:"20" doc:"Of PHONE_NUMBER: with country code." sample:"-"`
	Example     string `json:"example,omitempty" maxLength:"20" doc:"Of COPY_CODE: the code that is sent if a message has no other." sample:"-"`
}

type newTemplateBody struct {
	Name            string                 `json:"name" minLength:"1" maxLength:"512" doc:"Small letters, digits and underscores." example:"order_shipped"`
	Language        string                 `json:"language" minLength:"2" maxLength:"8" doc:"A language, with or without a country. The account has a name once in each." example:"pt_BR"`
	Category        string                 `json:"category,omitempty" enum:"MARKETING,UTILITY,AUTHENTICATION" default:"UTILITY" doc:"What the message is for. It makes no difference here." example:"UTILITY"`
	ParameterFormat string                 `json:"parameterFormat,omitempty" enum:"POSITIONAL,NAMED" doc:"What parameters are called. If left out, their names say it." sample:"-"`
	Components      []NewTemplateComponent `json:"components" nullable:"false" minItems:"1" maxItems:"4" doc:"The parts."`
}

func (b newTemplateBody) template(accountID string) template.Template {
	made := template.Template{AccountID: accountID, Name: b.Name, Language: b.Language, Category: b.Category, Parameters: template.Naming(b.ParameterFormat)}
	for _, c := range b.Components {
		part := template.Component{Part: template.Part(c.Type), Format: template.Format(c.Format), Text: c.Text}
		for _, given := range c.Buttons {
			part.Buttons = append(part.Buttons, template.Button{
				Does: template.Does(given.Type), Text: given.Text, URL: given.URL, PhoneNumber: given.PhoneNumber, Example: given.Example,
			})
		}
		made.Components = append(made.Components, part)
	}
	return made
}

type listTemplatesInput struct {
	contract.Paging

	Name string `query:"name" maxLength:"512" doc:"Only those with this name." example:"order_shipped"`
}

type deleteTemplateInput struct {
	ID string `path:"templateId" maxLength:"32" doc:"Identifier of the template." example:"4810275936618402"`
}

// Resolve refuses a text that can't be an identifier.
func (i *deleteTemplateInput) Resolve(huma.Context) []error { return checkSegment("templateId", i.ID) }

func (r templates) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listTemplates", Tag: tagMessages, Summary: "List the templates", Description: "Those of the account, oldest first.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listTemplatesInput) (contract.Envelope[Template], error) {
		return contract.Listed(in.Paging, newTemplate)(r.use.List(ctx, contract.Key(ctx).AccountID, in.Name, in.Request()))
	})
}

func (r templates) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createTemplate", Tag: tagMessages, Summary: "Create a template", Status: http.StatusCreated,
		Description: "A template is a message whose words are settled beforehand, and whose parameters come with each message. Nobody has to approve it, and all instances of the account send it. " +
			"To change one, delete it and create it anew. Needs a key that is not limited to certain instances.",
		Codes: []string{gateway.CodeForbidden, gateway.CodeTemplateExists, gateway.CodeTemplateLimit},
	}, func(ctx context.Context, in *contract.JSON[newTemplateBody]) (Template, error) {
		if err := needsWholeAccount(ctx); err != nil {
			return Template{}, err
		}
		return contract.Answered(newTemplate)(r.use.Create(ctx, in.Given().template(contract.Key(ctx).AccountID)))
	})
}

func (r templates) delete() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteTemplate", Tag: tagMessages, Summary: "Delete a template", Description: "What was sent stays. Needs a key as for creating one.",
		Codes: []string{gateway.CodeValidation, gateway.CodeForbidden, gateway.CodeTemplateNotFound},
	}, func(ctx context.Context, in *deleteTemplateInput) (contract.Empty, error) {
		if err := needsWholeAccount(ctx); err != nil {
			return contract.Empty{}, err
		}
		return contract.Empty{}, r.use.Delete(ctx, contract.Key(ctx).AccountID, in.ID)
	})
}

type templateMessageBody struct {
	Addressee

	Name             string            `json:"name" minLength:"1" maxLength:"512" doc:"The name of the template." example:"order_shipped"`
	Language         string            `json:"language" minLength:"2" maxLength:"8" doc:"The language of the template." example:"pt_BR"`
	HeaderParameters map[string]string `json:"headerParameters,omitempty" doc:"What stands for the parameters of the header, by their numbers or names." sample:"-"`
	BodyParameters   map[string]string `json:"bodyParameters,omitempty" doc:"What stands for the parameters of the body, by their numbers or names." example:"{\"1\":\"Ana\",\"2\":\"1234\"}"`
	ButtonParameters map[string]string `json:"buttonParameters,omitempty" doc:"What stands for the parameter of a URL, the code of a button, or what a quick reply answers with, by the places of the buttons, from 0." sample:"-"`
	Media            string            `json:"media,omitempty" minLength:"1" format:"media" doc:"The file of a header that is one: a base64 data URI, or an http(s) URL." sample:"-"`
	FileName         string            `json:"fileName,omitempty" maxLength:"255" doc:"Of a document: the name to display." sample:"-"`

	Reply
	Outgoing
}

func (r templates) message() contract.Endpoint {
	return handleSend(r.send, contract.Operation{
		ID: "sendTemplate", Summary: "Send a template",
		Description: "Puts the parameters into a template of the account, and sends that as a message: a text, or the file of the header with the text below it. " +
			"A text header is bold, a footer the last line in italics; buttons are lines of the text. Two quick replies or more become the options of a poll, if there is no file and the rest has 255 characters at most. What they answer with is the id of a selection, as with optionIds of a text or a poll; its reference is the name of the template. ",
		Codes: []string{gateway.CodeTemplateNotFound, gateway.CodeMediaFetchFailed},
	}, func(ctx context.Context, request messaging.Request, b templateMessageBody) (messaging.Result, error) {
		file := messaging.MediaParams{Field: "media", Input: b.Media, FileName: b.FileName, Decoded: contract.Media(ctx)}
		if file.Decoded != nil {
			file.Input = ""
		}
		of := contract.Instance(ctx)
		return r.send.use.SendTemplate(ctx, request, func(ctx context.Context) (gateway.Content, error) {
			found, err := r.use.Find(ctx, of.AccountID, b.Name, b.Language)
			if err != nil {
				return gateway.Content{}, err
			}
			said, err := found.Render(template.Parameters{
				Header: b.HeaderParameters, Body: b.BodyParameters, Buttons: b.ButtonParameters, File: file.Decoded != nil || file.Input != "",
				NoPoll: of.Sending.RefuseButtons,
			})
			return templateContent(b.Name, said), err
		}, file)
	})
}

// templateContent is what a template says, as a message. The name comes back with the answer to a quick reply.
func templateContent(name string, said template.Rendered) gateway.Content {
	content := gateway.Content{Type: headerTypes()[said.File], Text: said.Text}
	if len(said.Replies) > 0 {
		content.Menu.Reference = name
	}
	for _, reply := range said.Replies {
		content.Menu.Options = append(content.Menu.Options, gateway.MenuOption(reply))
	}
	if said.Poll {
		content.Type, content.Poll = gateway.TypePoll, &gateway.Poll{MaxAnswers: 1}
		for _, reply := range said.Replies {
			content.Poll.Options = append(content.Poll.Options, gateway.PollOption{Name: reply.Text})
		}
	}
	return content
}

// headerTypes are those of messages by the headers of their templates.
func headerTypes() map[template.Format]gateway.MessageType {
	return map[template.Format]gateway.MessageType{
		template.FormatText: gateway.TypeText, template.FormatImage: gateway.TypeImage, template.FormatVideo: gateway.TypeVideo,
		template.FormatDocument: gateway.TypeDocument,
	}
}
