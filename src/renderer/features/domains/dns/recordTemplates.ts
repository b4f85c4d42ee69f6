import type { NewDnsRecord } from '#shared/dns/dnsRecord.ts'

/** Value supplied by the provider that the records require. */
export type TemplateField = {
  id: string
  label: string
  placeholder: string
  hint?: string
  /** Whether the other records are useful if this field is empty. */
  optional?: boolean
}

/** Set of related records. Records that refer to an empty field are omitted; only optional fields may be empty. */
export type RecordTemplate = {
  id: string
  group: 'Mail' | 'Site' | 'Verification' | 'Security'
  label: string
  note?: string
  fields: readonly TemplateField[]
  records: (zone: string, written: Readonly<Record<string, string>>) => readonly NewDnsRecord[]
}

const createMx = (distance: number, value: string): NewDnsRecord => ({ type: 'MX', host: '@', value, distance })
const createTxt = (host: string, value: string): NewDnsRecord => ({ type: 'TXT', host, value })
const createCname = (host: string, value: string): NewDnsRecord => ({ type: 'CNAME', host, value })
const mapPresent = <T>(value: string | undefined, make: (value: string) => T): T[] => (value ? [make(value)] : [])

const dkimHint = 'Also add the DKIM records that the provider shows you.'

export const recordTemplates: readonly RecordTemplate[] = [
  {
    ...{ id: 'google', group: 'Mail', label: 'Google Workspace', note: dkimHint, fields: [] },
    records: () => [createMx(1, 'smtp.google.com'), createTxt('@', 'v=spf1 include:_spf.google.com ~all')],
  },
  {
    ...{ id: 'microsoft', group: 'Mail', label: 'Microsoft 365', note: dkimHint },
    fields: [{ id: 'code', label: 'Verification', placeholder: 'MS=ms12345678', optional: true }],
    records: (zone, { code }) => [
      createMx(0, `${zone.replaceAll('.', '-')}.mail.protection.outlook.com`),
      createTxt('@', 'v=spf1 include:spf.protection.outlook.com -all'),
      createCname('autodiscover', 'autodiscover.outlook.com'),
      ...mapPresent(code, (it) => createTxt('@', it)),
    ],
  },
  {
    ...{ id: 'fastmail', group: 'Mail', label: 'Fastmail', fields: [] },
    records: (zone) => [
      createMx(10, 'in1-smtp.messagingengine.com'),
      createMx(20, 'in2-smtp.messagingengine.com'),
      createTxt('@', 'v=spf1 include:spf.messagingengine.com ?all'),
      ...['fm1', 'fm2', 'fm3'].map((value) => createCname(`${value}._domainkey`, `${value}.${zone}.dkim.fmhosted.com`)),
    ],
  },
  {
    ...{ id: 'proton', group: 'Mail', label: 'Proton Mail', note: dkimHint },
    fields: [{ id: 'code', label: 'Verification', placeholder: 'protonmail-verification=…', optional: true }],
    records: (_, { code }) => [
      createMx(10, 'mail.protonmail.ch'),
      createMx(20, 'mailsec.protonmail.ch'),
      createTxt('@', 'v=spf1 include:_spf.protonmail.ch ~all'),
      ...mapPresent(code, (it) => createTxt('@', it)),
    ],
  },
  {
    ...{ id: 'icloud', group: 'Mail', label: 'iCloud Mail' },
    fields: [{ id: 'code', label: 'Verification', placeholder: 'apple-domain=…', optional: true }],
    records: (zone, { code }) => [
      createMx(10, 'mx01.mail.icloud.com'),
      createMx(10, 'mx02.mail.icloud.com'),
      createTxt('@', 'v=spf1 include:icloud.com ~all'),
      createCname('sig1._domainkey', `sig1.dkim.${zone}.at.icloudmailadmin.com`),
      ...mapPresent(code, (it) => createTxt('@', it)),
    ],
  },
  {
    ...{ id: 'zoho', group: 'Mail', label: 'Zoho Mail', note: dkimHint },
    fields: [{ id: 'code', label: 'Verification', placeholder: 'zoho-verification=…', optional: true }],
    records: (_, { code }) => [
      createMx(10, 'mx.zoho.com'),
      createMx(20, 'mx2.zoho.com'),
      createMx(50, 'mx3.zoho.com'),
      createTxt('@', 'v=spf1 include:zohomail.com ~all'),
      ...mapPresent(code, (it) => createTxt('@', it)),
    ],
  },
  {
    ...{ id: 'no-mail', group: 'Mail', label: 'No mail', note: 'Tells other servers to reject mail from this domain.' },
    fields: [],
    records: () => [createMx(0, '.'), createTxt('@', 'v=spf1 -all'), createTxt('_dmarc', 'v=DMARC1; p=reject')],
  },
  {
    ...{ id: 'server', group: 'Site', label: 'Your own server' },
    fields: [
      { id: 'v4', label: 'IPv4 address', placeholder: '192.0.2.1' },
      { id: 'v6', label: 'IPv6 address', placeholder: '2001:db8::1', optional: true },
    ],
    records: (zone, { v4 = '', v6 }) => [
      { type: 'A', host: '@', value: v4 },
      ...mapPresent(v6, (value): NewDnsRecord => ({ type: 'AAAA', host: '@', value })),
      createCname('www', zone),
    ],
  },
  {
    ...{ id: 'github-pages', group: 'Site', label: 'GitHub Pages' },
    fields: [{ id: 'user', label: 'GitHub user or organization', placeholder: 'octocat', optional: true }],
    records: (_, { user }) => [
      ...['108', '109', '110', '111'].map((it): NewDnsRecord => ({ type: 'A', host: '@', value: `185.199.${it}.153` })),
      ...['0', '1', '2', '3'].map(
        (it): NewDnsRecord => ({ type: 'AAAA', host: '@', value: `2606:50c0:800${it}::153` }),
      ),
      ...mapPresent(user, (it) => createCname('www', `${it}.github.io`)),
    ],
  },
  {
    ...{ id: 'vercel', group: 'Site', label: 'Vercel', fields: [] },
    records: () => [{ type: 'A', host: '@', value: '76.76.21.21' }, createCname('www', 'cname.vercel-dns.com')],
  },
  {
    ...{ id: 'netlify', group: 'Site', label: 'Netlify' },
    fields: [{ id: 'site', label: 'Site name', placeholder: 'my-site', hint: 'Of my-site.netlify.app.' }],
    records: (_, { site = '' }) => [
      { type: 'A', host: '@', value: '75.2.60.5' },
      createCname('www', `${site.replace(/\.netlify\.app$/, '')}.netlify.app`),
    ],
  },
  {
    ...{ id: 'www', group: 'Site', label: 'www points to the domain', fields: [] },
    records: (zone) => [createCname('www', zone)],
  },
  {
    ...{ id: 'verification', group: 'Verification', label: 'Verification record' },
    note: 'Proves to a service that you own the domain.',
    fields: [
      {
        id: 'value',
        label: 'Text',
        placeholder: 'google-site-verification=…',
        hint: 'The value that the service shows you.',
      },
      {
        id: 'host',
        label: 'Name',
        placeholder: '@',
        hint: '@ for the domain itself, or _acme-challenge.',
        optional: true,
      },
    ],
    records: (_, { value = '', host }) => [createTxt(host || '@', value)],
  },
  {
    ...{ id: 'dmarc', group: 'Security', label: 'DMARC reports' },
    note: 'Mail that fails SPF and DKIM goes to spam, and you get reports.',
    fields: [{ id: 'mail', label: 'Reports to', placeholder: 'dmarc@example.com' }],
    records: (_, { mail = '' }) => [createTxt('_dmarc', `v=DMARC1; p=quarantine; rua=mailto:${mail}`)],
  },
  {
    ...{ id: 'lets-encrypt', group: 'Security', label: 'Let’s Encrypt certificates only', fields: [] },
    records: () => [{ type: 'CAA', host: '@', value: '0 issue "letsencrypt.org"' }],
  },
]
