import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { type DnsRecordData, dnsLimits, dnsRecordTypes, hasDistance } from '#shared/dns/dnsRecord.ts'
import { parseRecordForm, type RecordForm } from './zoneEdits.ts'

type RecordFieldsProps = {
  zone: string
  /** Not set for a new record. */
  record: DnsRecordData | undefined
  /** Other records of the zone. */
  others: readonly DnsRecordData[]
  onDone: (record: DnsRecordData) => void
  onCancel: () => void
}

const examples: Readonly<Record<DnsRecordData['type'], string>> = {
  A: '192.0.2.1',
  AAAA: '2001:db8::1',
  CNAME: 'example.net',
  MX: 'mail.example.net',
  TXT: 'v=spf1 -all',
  SRV: '5 5060 sip.example.net',
  CAA: '0 issue "letsencrypt.org"',
  NS: 'ns1.example.net',
}

/** Editor that replaces the row of a record. The type of an existing record is fixed. */
export function RecordFields({ zone, record, others, onDone, onCancel }: RecordFieldsProps) {
  const [form, setForm] = useState<RecordForm>({
    type: record?.type ?? 'A',
    host: record?.host ?? '@',
    value: record?.value ?? '',
    ttl: String(record?.ttl ?? dnsLimits.ttl.default),
    distance: String(record?.distance ?? dnsLimits.distance.default),
  })
  const [isTried, setTried] = useState(false)
  const written = parseRecordForm(zone, form, others)
  const findError = (field: string) =>
    isTried && 'field' in written && written.field === field ? written.message : undefined
  const set = (change: Partial<RecordForm>) => setForm({ ...form, ...change })
  return (
    <form
      noValidate
      aria-label={record ? 'Edit record' : 'New record'}
      className="flex flex-col gap-3 rounded-card border border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if ('record' in written) onDone(written.record)
      }}
      onKeyDown={({ key }) => key === 'Escape' && onCancel()}
    >
      <div className="grid grid-cols-[6rem_8rem_minmax(0,1fr)_7.5rem_5rem] items-start gap-3 max-narrow:grid-cols-2">
        {record ? (
          <div className="flex flex-col gap-1.5">
            <span className="font-medium">Type</span>
            <span className="flex h-8 items-center">{form.type}</span>
          </div>
        ) : (
          <Select
            label="Type"
            value={form.type}
            onChange={(type) => set({ type })}
            options={dnsRecordTypes.map((value) => ({ value, label: value }))}
          />
        )}
        <TextField
          label="Name"
          value={form.host}
          onChange={(host) => set({ host })}
          error={findError('host')}
          monospaced
          autoFocus
        />
        <TextField
          label="Value"
          value={form.value}
          onChange={(value) => set({ value })}
          error={findError('value')}
          placeholder={examples[form.type]}
          monospaced
        />
        <TextField
          label="TTL (seconds)"
          value={form.ttl}
          onChange={(ttl) => set({ ttl })}
          error={findError('ttl')}
          inputMode="numeric"
        />
        {hasDistance(form.type) && (
          <TextField
            label="Priority"
            value={form.distance}
            onChange={(distance) => set({ distance })}
            error={findError('distance')}
            inputMode="numeric"
          />
        )}
      </div>
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" type="submit" variant="primary">
          {record ? 'Update' : 'Add'}
        </Button>
      </div>
    </form>
  )
}
