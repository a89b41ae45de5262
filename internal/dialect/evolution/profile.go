// Profiles: of others, and the account's own.

package evolution

import (
	"net/http"

	"github.com/recado-project/recado/client"
)

func (c *call) fetchPicture() (any, error) {
	who, err := c.number()
	if err != nil {
		return nil, err
	}
	picture, err := c.client.GetProfilePicture(c.ctx(), c.id(), who)
	return object{"wuid": jidOf(who), "profilePictureUrl": orNil(textIn(picture.URL))}, err
}

func (c *call) fetchProfile() (any, error) {
	who, err := c.number()
	if err != nil {
		return nil, err
	}
	contact, err := c.client.GetContact(c.ctx(), c.id(), who)
	if isCode(err, client.CodeRecipientNotRegistered) {
		return object{
			"wuid": jidOf(who), "name": nil, "numberExists": false, "picture": nil, "status": nil,
			"isBusiness": false, "email": nil, "description": nil, "website": nil,
		}, nil
	}
	if err != nil {
		return nil, err
	}
	picture, err := c.client.GetProfilePicture(c.ctx(), c.id(), who)
	if err != nil {
		return nil, err
	}
	profile := object{
		"wuid": contact.ID, "name": orNil(textIn(contact.Name)), "numberExists": true, "picture": orNil(textIn(picture.URL)), "status": orNil(contact.About),
		"isBusiness": contact.Business != nil, "email": nil, "description": nil, "website": nil,
	}
	if contact.Business != nil {
		profile["email"] = orNil(contact.Business.Email)
	}
	return profile, nil
}

func (c *call) fetchBusiness() (any, error) {
	who, err := c.number()
	if err != nil {
		return nil, err
	}
	contact, err := c.client.GetContact(c.ctx(), c.id(), who)
	if err != nil {
		return nil, err
	}
	b := contact.Business
	if b == nil {
		return object{"isBusiness": false, "message": "Not is business profile", "jid": contact.ID, "exists": true, "number": c.fields.text("number")}, nil
	}
	category := ""
	if len(b.Categories) > 0 {
		category = b.Categories[0]
	}
	return object{
		"isBusiness": true, "wid": contact.ID, "description": orNil(contact.About), "email": orNil(b.Email), "website": []string{},
		"category": orNil(category), "address": orNil(b.Address),
	}, nil
}

// updated answers to a change that only says that it is made.
func updated(err error) (any, error) { return object{"update": "success"}, err }

func (c *call) changeProfile(change client.ProfileChange) (any, error) {
	_, err := c.client.ChangeProfile(c.ctx(), c.id(), change)
	return updated(err)
}

func (c *call) setName() (any, error) {
	name, err := c.fields.need("name")
	if err != nil {
		return nil, err
	}
	return c.changeProfile(client.ProfileChange{Name: &name})
}

func (c *call) setAbout() (any, error) {
	return c.changeProfile(client.ProfileChange{About: client.Set(c.fields.text("status"))})
}

func (c *call) setPicture() (any, error) {
	content, file, err := c.media("picture")
	if err != nil {
		return nil, err
	}
	if file != nil {
		return c.changeProfile(client.ProfileChange{File: file})
	}
	return c.changeProfile(client.ProfileChange{Picture: client.Set(content)})
}

func (c *call) removePicture() (any, error) {
	return c.changeProfile(client.ProfileChange{Picture: client.Null[string]()})
}

// audiences are who sees something, in that API's words by the gateway's.
func audiences() map[string]string {
	return map[string]string{
		client.AboutAll: "all", client.AboutContacts: "contacts", client.AboutContactsExcept: "contact_blacklist", client.AboutNone: "none",
		client.OnlineSameAsLastSeen: "match_last_seen",
	}
}

// audienceOf is who sees something, in that API's words; null where it is not known.
func audienceOf(setting *string) any { return orNil(audiences()[textIn(setting)]) }

// privacyOf are the six settings that that API has.
func privacyOf(p client.Privacy) object {
	var receipts any
	if p.ReadReceipts != nil {
		receipts = map[bool]string{true: "all", false: "none"}[*p.ReadReceipts]
	}
	return object{
		"readreceipts": receipts, "profile": audienceOf(p.ProfilePicture), "status": audienceOf(p.About),
		"online": audienceOf(p.Online), "last": audienceOf(p.LastSeen), "groupadd": audienceOf(p.Groups),
	}
}

func (c *call) privacy() (any, error) {
	privacy, err := c.client.GetPrivacy(c.ctx(), c.id())
	return privacyOf(privacy), err
}

func (c *call) setPrivacy() (any, error) {
	var change client.PrivacyChange
	for name, setting := range map[string]**string{
		"profile": &change.ProfilePicture, "status": &change.About, "online": &change.Online, "last": &change.LastSeen, "groupadd": &change.Groups,
	} {
		wanted := c.fields.text(name)
		if wanted == "" {
			continue
		}
		for ours, theirs := range audiences() {
			if theirs == wanted {
				*setting = &ours
			}
		}
		if *setting == nil {
			return nil, refuse(http.StatusBadRequest, name+" is not one of the values that there are")
		}
	}
	switch wanted := c.fields.text("readreceipts"); wanted {
	case "":
	case "all", "none":
		receipts := wanted == "all"
		change.ReadReceipts = &receipts
	default:
		return nil, refuse(http.StatusBadRequest, "readreceipts is not one of enum values: all,none")
	}
	privacy, err := c.client.ChangePrivacy(c.ctx(), c.id(), change)
	return object{"update": "success", "data": privacyOf(privacy)}, err
}
