import type { NewDnsRecord } from '../../../../shared/dns/dnsRecord.ts'

/** Records that are needed together. What a person has to replace stands in the value as a plain example. */
export type RecordTemplate = { id: string; label: string; records: readonly NewDnsRecord[] }

const mx = (distance: number, value: string): NewDnsRecord => ({ type: 'MX', host: '@', value, distance })
const text = (host: string, value: string): NewDnsRecord => ({ type: 'TXT', host, value })

export const recordTemplates: readonly RecordTemplate[] = [
  {
    id: 'google',
    label: 'Mail: Google Workspace',
    records: [mx(1, 'smtp.google.com'), text('@', 'v=spf1 include:_spf.google.com ~all')],
  },
  {
    id: 'fastmail',
    label: 'Mail: Fastmail',
    records: [
      mx(10, 'in1-smtp.messagingengine.com'),
      mx(20, 'in2-smtp.messagingengine.com'),
      text('@', 'v=spf1 include:spf.messagingengine.com ?all'),
    ],
  },
  {
    id: 'proton',
    label: 'Mail: Proton Mail',
    records: [
      mx(10, 'mail.protonmail.ch'),
      mx(20, 'mailsec.protonmail.ch'),
      text('@', 'v=spf1 include:_spf.protonmail.ch ~all'),
    ],
  },
  {
    id: 'no-mail',
    label: 'No mail from this domain',
    records: [mx(0, '.'), text('@', 'v=spf1 -all'), text('_dmarc', 'v=DMARC1; p=reject')],
  },
  {
    id: 'github-pages',
    label: 'Site: GitHub Pages',
    records: ['108', '109', '110', '111'].map((it) => ({ type: 'A', host: '@', value: `185.199.${it}.153` })),
  },
  {
    id: 'www',
    label: 'Site: www points to the domain',
    records: [{ type: 'CNAME', host: 'www', value: '@' }],
  },
  {
    id: 'lets-encrypt',
    label: 'Certificates: Let’s Encrypt only',
    records: [{ type: 'CAA', host: '@', value: '0 issue "letsencrypt.org"' }],
  },
]
