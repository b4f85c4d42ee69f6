import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import { type RecordTemplate, recordTemplates } from './recordTemplates.ts'
import { buildTemplateRows, type TemplateRow } from './templateRows.ts'

type TemplatesDialogProps = {
  zone: string
  present: readonly DnsRecordData[]
  onClose: () => void
  onAdd: (records: DnsRecordData[]) => void
}

const groups = [...Map.groupBy(recordTemplates, ({ group }) => group)]
const [firstTemplate] = recordTemplates

/** Form that adds a set of related records as changes. */
export function TemplatesDialog({ zone, present, onClose, onAdd }: TemplatesDialogProps) {
  const [template, setTemplate] = useState(firstTemplate)
  const [written, setWritten] = useState<Readonly<Record<string, string>>>({})
  const [isTried, setTried] = useState(false)
  if (!template) return null
  const { rows, fault } = buildTemplateRows(zone, { template, written, present })
  const added = rows.filter(({ state }) => state === 'new').map(({ record }) => record)
  const choose = (next: RecordTemplate) => {
    setTemplate(next)
    setWritten({})
    setTried(false)
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Add records from a template"
      description="Nothing changes until you review and apply."
      width="wide"
      onSubmit={() => {
        setTried(true)
        if (!fault && added.length > 0) onAdd(added)
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={!fault && added.length === 0}>
            {added.length === 0 ? 'Add records' : added.length === 1 ? 'Add 1 record' : `Add ${added.length} records`}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-[11rem_minmax(0,1fr)] gap-5 max-narrow:grid-cols-1">
        <nav aria-label="Templates" className="flex max-h-96 flex-col gap-2 overflow-y-auto max-narrow:max-h-40">
          {groups.map(([group, members]) => (
            <section key={group} aria-label={group}>
              <h3 className="px-2 pb-0.5 text-small text-faint">{group}</h3>
              {members.map((member) => (
                <button
                  key={member.id}
                  type="button"
                  aria-pressed={member === template}
                  onClick={() => choose(member)}
                  className={joinClassNames(
                    'flex min-h-7 w-full items-center rounded-small px-2 py-0.5 text-left',
                    member === template ? 'bg-selected text-text' : 'text-muted hover:bg-hover hover:text-text',
                  )}
                >
                  {member.label}
                </button>
              ))}
            </section>
          ))}
        </nav>
        <div className="flex min-w-0 flex-col gap-3">
          {template.note !== undefined && <p className="text-muted">{template.note}</p>}
          {template.fields.map(({ id, label, placeholder, hint, optional }) => (
            <TextField
              key={`${template.id} ${id}`}
              label={optional ? `${label} (optional)` : label}
              placeholder={placeholder}
              hint={hint}
              value={written[id] ?? ''}
              onChange={(value) => setWritten({ ...written, [id]: value })}
              error={(isTried || written[id]) && fault?.field === id ? fault.message : undefined}
              monospaced
            />
          ))}
          {fault?.field === '' && (
            <p role="alert" className="text-negative">
              {fault.message}
            </p>
          )}
          {rows.length > 0 && (
            <ul aria-label="Records of the template" className="divide-y divide-line rounded-card border border-line">
              {rows.map((row) => (
                <PreviewRow key={JSON.stringify(row.record)} row={row} />
              ))}
            </ul>
          )}
        </div>
      </div>
    </Dialog>
  )
}

function PreviewRow({ row: { record, state, note } }: { row: TemplateRow }) {
  const { type, host, value, distance } = record
  return (
    <li data-state={state} className={joinClassNames('px-3 py-1.5', state !== 'new' && 'bg-panel')}>
      <span className="grid grid-cols-[4rem_7.5rem_minmax(0,1fr)] items-baseline gap-2">
        <span className={joinClassNames('font-medium', state !== 'new' && 'text-faint')}>{type}</span>
        <span className="truncate font-mono text-small text-muted" title={host}>
          {host}
        </span>
        <span className={joinClassNames('min-w-0 font-mono text-small break-all', state !== 'new' && 'text-faint')}>
          {distance !== null && <span className="text-muted">{distance} </span>}
          {value}
        </span>
      </span>
      {state === 'exists' && <span className="text-small text-faint">Already exists</span>}
      {note !== undefined && <span className="text-small text-caution">{note}</span>}
    </li>
  )
}
