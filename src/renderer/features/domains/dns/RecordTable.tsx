import { RecordFields } from './RecordFields.tsx'
import { RecordRow, recordColumns } from './RecordRow.tsx'
import {
  createRecordKey,
  removeRecord,
  restoreRecord,
  toRecords,
  withRecord,
  type ZoneEdits,
  type ZoneRow,
} from './zoneEdits.ts'

type RecordTableProps = {
  zone: string
  rows: readonly ZoneRow[]
  edits: ZoneEdits
  onEditsChange: (edits: ZoneEdits) => void
  /** Key of the row with an open editor, or `new`. */
  openRow: string | undefined
  onOpenRowChange: (key: string | undefined) => void
}

/** Records of a zone with pending changes. One of them can be open in an editor. */
export function RecordTable({ zone, rows, edits, onEditsChange, openRow, onOpenRowChange }: RecordTableProps) {
  return (
    <>
      {openRow === 'new' && (
        <RecordFields
          zone={zone}
          record={undefined}
          others={toRecords(rows)}
          onCancel={() => onOpenRowChange(undefined)}
          onDone={(record) => {
            onEditsChange(withRecord(edits, record, { newKey: createRecordKey() }))
            onOpenRowChange(undefined)
          }}
        />
      )}
      {rows.length === 0 ? (
        <p className="py-3 text-muted">No DNS records. Add one, or use a template.</p>
      ) : (
        <div>
          <div aria-hidden className={`${recordColumns} border-b border-line pb-1.5 text-small text-muted`}>
            <span className="pl-1.5">Type</span>
            <span>Name</span>
            <span>Value</span>
            <span className="max-narrow:hidden">TTL</span>
          </div>
          <ul aria-label="Records">
            {rows.map((row) =>
              row.key === openRow ? (
                <li key={row.key} className="py-1.5">
                  <RecordFields
                    zone={zone}
                    record={row.record}
                    others={toRecords(rows.filter(({ key }) => key !== row.key))}
                    onCancel={() => onOpenRowChange(undefined)}
                    onDone={(record) => {
                      onEditsChange(withRecord(edits, record, { key: row.key, newKey: '' }))
                      onOpenRowChange(undefined)
                    }}
                  />
                </li>
              ) : (
                <RecordRow
                  key={row.key}
                  row={row}
                  onEdit={() => onOpenRowChange(row.key)}
                  onRemove={() => onEditsChange(removeRecord(edits, row.key))}
                  onRestore={() => onEditsChange(restoreRecord(edits, row.key))}
                />
              ),
            )}
          </ul>
        </div>
      )}
    </>
  )
}
