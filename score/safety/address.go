// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// PrivateAddress is why an address is not one of the public Internet: "an address of this
// machine", "a private network", and so on; "" for a public one. IPv4 addresses inside IPv6
// addresses (mapped, translated, NAT64, 6to4) are judged as IPv4 addresses. Source: IANA's
// registries of special-purpose addresses.
func PrivateAddress(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if in, ok := embedded(a); ok {
		return PrivateAddress(in)
	}
	switch {
	case ServesCredentials(a):
		return "an address of the local network, where clouds serve credentials"
	case !a.IsValid(), a.IsUnspecified(), a.IsLoopback():
		return "an address of this machine"
	case a.IsPrivate():
		return "an address of a private network"
	case a.IsLinkLocalMulticast(), a.IsInterfaceLocalMulticast():
		return "an address of the local network"
	case a.IsMulticast():
		return "a multicast address"
	}
	for _, s := range special() {
		if s.Contains(a) {
			return "an address that is not of the public Internet"
		}
	}
	return ""
}

// special are prefixes that no public server has, in addition to those that netip knows.
func special() []netip.Prefix {
	at := func(a [4]byte, bits int) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4(a), bits) }
	return []netip.Prefix{
		at([4]byte{0}, 8), at([4]byte{100, 64}, 10), at([4]byte{192}, 24), at([4]byte{198, 18}, 15),
		at([4]byte{240}, 4),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x01}), 64),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfe, 0xc0}), 10),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{}), 96),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01}), 32),
		// NAT64 with a local prefix: only the network knows where in it the IPv4 address is.
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}), 48),
	}
}

// ServesCredentials reports whether a cloud serves a machine's credentials at an address: the local
// link, in any form, and further addresses of some clouds.
func ServesCredentials(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if in, ok := embedded(a); ok {
		return ServesCredentials(in)
	}
	switch a {
	case netip.AddrFrom16([16]byte{0: 0xfd, 2: 0x0e, 3: 0xc2, 14: 0x02, 15: 0x54}), // Amazon
		// Google
		netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x20, 3: 0xce, 14: 0x02, 15: 0x54}),
		// Scaleway
		netip.AddrFrom16([16]byte{0: 0xfd, 3: 0x42, 15: 0x42}),
		// Azure, Alibaba, Oracle
		netip.AddrFrom4([4]byte{168, 63, 129, 16}), netip.AddrFrom4([4]byte{100, 100, 100, 200}),
		netip.AddrFrom4([4]byte{192, 0, 0, 192}):
		return true
	}
	return a.IsLinkLocalUnicast()
}

// embedded is the IPv4 address that a gateway would extract from an IPv6 address.
func embedded(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() {
		return a, false
	}
	b := a.As16()
	switch {
	case [12]byte(b[:12]) == [12]byte{0, 0x64, 0xff, 0x9b}: // NAT64
		return netip.AddrFrom4([4]byte(b[12:])), true
	case [12]byte(b[:12]) == [12]byte{8: 0xff, 9: 0xff}: // IPv4-translated
		return netip.AddrFrom4([4]byte(b[12:])), true
	case b[0] == 0x20 && b[1] == 0x02: // 6to4
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return a, false
}

// Private is why a connection to an address breaks the rules. It is "" where the address is public
// or in an allowed network, or the rules do not deny private addresses.
func (c *Checker) Private(a netip.Addr) string {
	if !c.rules.DenyPrivate {
		return ""
	}
	return c.privateAddress(a)
}

func (c *Checker) privateAddress(a netip.Addr) string {
	why := PrivateAddress(a)
	if why != "" &&
		slices.ContainsFunc(c.networks, func(p netip.Prefix) bool { return p.Contains(a.Unmap().WithZone("")) }) {
		return ""
	}
	return why
}

// private returns why a written host is not public, before it is resolved; "" for a name that may
// be public. Numbers count in every form that a browser or a C library takes: 127.1, 0x7f000001,
// 2130706433, 0177.0.0.1.
func (c *Checker) private(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host, _, _ = strings.Cut(inner, "]")
	}
	host = strings.TrimSuffix(host, ".")
	if a, err := netip.ParseAddr(host); err == nil {
		return c.privateAddress(a)
	}
	if a, ok := oddAddress(host); ok {
		return c.privateAddress(a)
	}
	switch {
	case host == "localhost", strings.HasSuffix(host, ".localhost"), host == "localhost.localdomain",
		host == "ip6-localhost", host == "ip6-loopback":
		return c.privateAddress(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	case host == "metadata", host == "metadata.google.internal", host == "instance-data",
		host == "instance-data.ec2.internal":
		return c.privateAddress(netip.AddrFrom4([4]byte{169, 254, 169, 254}))
	}
	return ""
}

// oddAddress reads IPv4 like inet_aton: one to four parts, decimal, octal or hexadecimal; the last
// part fills the remaining bytes.
func oddAddress(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var all uint64
	for i, p := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if p == "" || p[0] < '0' || p[0] > '9' || strings.ContainsAny(p, "_bBoO") {
			return netip.Addr{}, false
		}
		n, err := strconv.ParseUint(p, 0, 64)
		if err != nil || n >= 1<<bits {
			return netip.Addr{}, false
		}
		all = all<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}), true
}

// networks reads addresses and prefixes.
func networks(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("networks: %q is neither an IP address nor a prefix such as 10.0.0.0/8: %w", s,
				callvet.ErrInvalid)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Reaches reports whether the rules let any tool reach a host.
func (c *Checker) Reaches(host string) bool {
	if c.rules.DenyPrivate && c.private(strings.ToLower(host)) != "" {
		return false
	}
	return c.rules.Domains == nil || hostAllowed(strings.ToLower(host), c.rules.Domains)
}
