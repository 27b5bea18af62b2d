// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"strings"

	"github.com/callvet/callvet/value"
)

// NameRole is what the name of a member implies about its value.
type NameRole uint8

// The roles. RoleSecret makes every value a finding; the other roles define which forms are
// searched, and how strictly.
const (
	RoleNone   NameRole = iota // nothing: findings depend only on the form of the value
	RoleSecret                 // password, api_key, authorization
	RoleToken                  // token, key: a value that looks random is a secret
	RoleID                     // an identifier, hash, time or measure: its digits identify no person
	RoleCard                   // card_number: the issuer need not be known
	RoleNational
	RolePhone
)

// Role is the role of a member with this name. It depends only on the name, so that it is equal
// in every file.
func (d *Detector) Role(name string) NameRole {
	if len(d.keys) > 0 && d.keys[strings.ToLower(name)] && !d.off[KindSecret] {
		return RoleSecret
	}
	if len(name) < 2 || len(name) > maxName {
		return RoleNone
	}
	var w wording
	w.read(name)
	switch {
	case w.secret(name):
		if d.off[KindSecret] {
			return RoleNone
		}
		return RoleSecret
	case w.ends(cardNames[:]) || w.last(cardWords[:]):
		return RoleCard
	case w.ends(nationalNames[:]) || w.last(nationalWords[:]):
		return RoleNational
	case w.ends(phoneNames[:]) || w.last(phoneWords[:]):
		return RolePhone
	case w.ends(tokenNames[:]):
		return RoleToken
	case w.id():
		return RoleID
	}
	return RoleNone
}

// SecretKey reports whether a value under a member of this name is a secret, whatever it is.
func (d *Detector) SecretKey(name string) bool { return d.Role(name) == RoleSecret }

// Below is the role of v, the value of a member with this name, or of an item of a list
// (name "") under a value of the role above.
//
// A secret's name covers all that is nested below it, such as {"auth":{"user":…}}. It does not
// cover a JSON Schema, which describes a secret but contains none, and the arguments of a tool,
// which are sometimes keyed by the tool's name ("reset_password"). The other roles apply to the
// items of a list, but not to the members of an object.
func (d *Detector) Below(above NameRole, name string, v value.Value) NameRole {
	return d.Under(above, d.Role(name), name, v)
}

// Under is Below where the role of the name is known.
func (d *Detector) Under(above, named NameRole, name string, v value.Value) NameRole {
	own := above
	if name != "" {
		own = named
		if own != RoleSecret && above == RoleSecret {
			own = RoleSecret
			if v.Kind() == value.Number {
				own = RoleNone // a number is a secret only because of its own name
			}
		}
	}
	if v.Kind() != value.Object {
		return own
	}
	if own == RoleSecret && !describes(v) && !startsWithVerb(name) {
		return RoleSecret
	}
	return RoleNone
}

// Announced is the role of V in {"name": N, "value": V}, from the text N, as in lists of headers
// and attributes; RoleNone for other objects.
func (d *Detector) Announced(obj value.Value) NameRole {
	if obj.Kind() != value.Object || obj.Len() < 2 || obj.Len() > 6 {
		return RoleNone
	}
	if _, ok := obj.Get("value"); !ok {
		return RoleNone
	}
	for _, k := range [...]string{"name", "key", "header"} {
		if n, ok := obj.Get(k); ok && n.Kind() == value.String {
			if r := d.Role(n.Str()); r != RoleNone {
				return r
			}
		}
	}
	return RoleNone
}

// describes reports whether an object is a JSON Schema: it has a type by name, or one of
// the keywords that only schemas have.
func describes(obj value.Value) bool {
	if t, ok := obj.Get("type"); ok {
		if t.Kind() == value.Array {
			t, _ = t.First()
		}
		switch strings.ToLower(t.Str()) {
		case "string", "str", "number", "integer", "int", "float", "boolean", "bool", "object", "dict", "array", "list",
			"null", "any", "tuple":
			return true
		}
	}
	for _, k := range [...]string{"$ref", "anyOf", "oneOf", "allOf"} {
		if _, ok := obj.Get(k); ok {
			return true
		}
	}
	return false
}

// maxName is the longest name that is read, in bytes.
const maxName = 64

// wording is a name as its letters, folded, with the places where words start.
type wording struct {
	letters [maxName]byte
	starts  uint64
	n       int
	tail    int // where the last word starts
}

// read splits a name at separators and digits, and where a capital follows a small letter.
func (w *wording) read(name string) {
	fresh := true
	for i := range len(name) {
		c := name[i]
		if !letter(c) {
			fresh = true
			continue
		}
		if fresh || upper(c) && !upper(name[i-1]) {
			w.starts |= 1 << w.n
			w.tail = w.n
		}
		fresh = false
		w.letters[w.n] = c | 0x20
		w.n++
	}
}

// ends reports whether the letters end in one of the list, after any other letters.
func (w *wording) ends(list []string) bool {
	if w.n == 0 {
		return false
	}
	end := w.letters[w.n-1]
	for _, s := range list {
		if s[len(s)-1] == end && w.n >= len(s) && string(w.letters[w.n-len(s):w.n]) == s {
			return true
		}
	}
	return false
}

// last reports whether the last word is one of the list.
func (w *wording) last(list []string) bool {
	s := w.letters[w.tail:w.n]
	for _, word := range list {
		if string(s) == word {
			return true
		}
	}
	return false
}

// id reports whether the name is the name of an identifier: order_id, order id number.
func (w *wording) id() bool {
	return idWord(w.letters[w.tail:w.n]) || w.tail > 0 && w.last(numberWords[:]) && idWord(w.letters[w.before():w.tail])
}

// before is the start of the word before the last one.
func (w *wording) before() int {
	at := w.tail - 1
	for w.starts>>at&1 == 0 {
		at--
	}
	return at
}

// startsWithVerb distinguishes the name of a tool from the name of a value.
func startsWithVerb(name string) bool {
	var w wording
	if len(name) > maxName {
		return false
	}
	w.read(name)
	end := 1
	for end < w.n && w.starts>>end&1 == 0 {
		end++
	}
	switch string(w.letters[:end]) {
	case "create", "get", "set", "reset", "verify", "validate", "generate", "check", "update", "change", "delete",
		"revoke", "refresh", "forgot", "send", "list", "find", "add", "remove", "rotate":
		return end < w.n
	}
	return false
}

// Names are matched by their letters at the end ("dbPassword"), words only where a word
// starts there ("card_pan", not "japan").
var (
	secretNames = [...]string{
		"password", "passwords", "passwd", "passphrase", "passcode", "secret", "secrets", "secretkey", "clientsecret",
		"apikey", "apikeys", "accesskey",
		"privatekey", "accountkey", "subscriptionkey", "signingkey", "encryptionkey", "masterkey", "accesstoken",
		"refreshtoken", "authtoken", "idtoken", "sessiontoken",
		"bearertoken", "apitoken", "bottoken", "resumetoken", "authorization", "credential", "credentials", "setcookie",
	}
	secretWords = [...]string{"pwd", "cvv", "cvc", "cookie"}
	cardNames   = [...]string{
		"cardnumber", "cardnumbers", "cardno", "cardnum", "creditcard", "debitcard", "ccnumber",
		"ccnum", "primaryaccountnumber",
	}
	cardWords     = [...]string{"pan", "card"}
	nationalNames = [...]string{
		"socialsecuritynumber", "socialsecurity", "nationalid", "nationalidnumber", "nationalidentitynumber",
		"personalnumber", "personalidnumber", "personnummer",
		"personalid", "personid", "taxid", "taxpayerid", "taxnumber", "citizenid", "identitynumber", "idcardnumber",
	}
	nationalWords = [...]string{"ssn", "cpf", "dni", "nie", "nif"}
	phoneNames    = [...]string{
		"phonenumber", "phonenumbers", "mobilenumber", "telephone", "telephonenumber",
		"cellphone", "homephone", "workphone", "faxnumber",
	}
	phoneWords  = [...]string{"phone", "phones", "mobile", "fax", "tel", "msisdn", "whatsapp"}
	tokenNames  = [...]string{"token", "key"}
	numberWords = [...]string{"number", "no", "num", "nr", "code", "value"}
)

// idWord reports whether a name with that word belongs to an identifier, hash, time or measure.
func idWord(word []byte) bool {
	switch string(word) {
	case "id", "ids", "uid", "uuid", "guid", "hash", "sha", "md", "digest", "checksum", "crc", "etag", "fingerprint",
		"commit", "revision", "signature",
		"timestamp", "time", "date", "datetime", "ts", "at", "ms", "ns", "us", "sec", "secs", "seconds", "minutes",
		"epoch", "until", "since", "expires",
		"cursor", "offset", "seed", "nonce", "sequence", "seq", "index", "lat", "latitude", "lon", "lng", "longitude",
		"score", "latency", "duration", "elapsed",
		"price", "amount", "cost", "total", "count", "size", "bytes", "version", "isbn", "ean", "upc", "gtin",
		"barcode", "sku", "asin", "imei", "iccid", "vin",
		"doi", "tracking", "serial", "order", "invoice", "ticket", "reference", "ref", "confirmation",
		"booking", "shipment":
		return true
	}
	return false
}
