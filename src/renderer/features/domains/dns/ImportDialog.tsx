import { FileUp } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { FileButton } from '#renderer/ui/FileButton.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { type DnsRecordData, dnsLimits } from '#shared/dns/dnsRecord.ts'
import { type ImportedZone, parseZoneFile, zoneFileLimit } from '#shared/dns/zoneFile.ts'
import { ZoneFileError } from '#shared/dns/zoneTokens.ts'

type ImportDialogProps = {
  zone: string
  onClose: () => void
  onImport: (records: DnsRecordData[], options: { replace: boolean }) => void
}

/** Converts a zone file to changes, which are reviewed like any others. */
export function ImportDialog({ zone, onClose, onImport }: ImportDialogProps) {
  const [text, setText] = useState('')
  const [replace, setReplace] = useState(false)
  const [fileFault, setFileFault] = useState<string>()
  const read = text.trim() === '' ? undefined : readZone(zone, text)
  const imported = read && 'records' in read ? read : undefined
  const openFile = async (file: File) => {
    const isTooLarge = file.size > 4 * zoneFileLimit
    setFileFault(isTooLarge ? `${file.name} is too large for a zone file.` : undefined)
    if (!isTooLarge) setText(await file.text())
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Import a zone file"
      description="The format that BIND and most DNS providers export. Nothing changes until you review and apply."
      width="wide"
      staysOpen
      onSubmit={() => imported && onImport(imported.records, { replace })}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={!imported || imported.records.length === 0}>
            Import
          </Button>
        </>
      }
    >
      <div className="flex flex-col items-start gap-3">
        <FileButton label="Choose file…" icon={FileUp} size="small" onFile={(file) => void openFile(file)} />
        <div className="w-full">
          <TextAreaField
            label="Zone file"
            value={text}
            onChange={setText}
            error={fileFault ?? (read && 'fault' in read ? read.fault : undefined)}
            hint={imported && describeImport(imported)}
            rows={10}
            monospaced
          />
        </div>
        <Checkbox
          label="Replace all records"
          hint="Removes records that are not in the file."
          checked={replace}
          onChange={setReplace}
        />
      </div>
    </Dialog>
  )
}

function readZone(zone: string, text: string): ImportedZone | { fault: string } {
  try {
    return parseZoneFile(zone, text)
  } catch (fault) {
    if (fault instanceof ZoneFileError) return { fault: fault.message }
    throw fault
  }
}

function describeImport({ records, skipped: leftOut, clamped }: ImportedZone): string {
  const count = records.length === 1 ? '1 record.' : `${records.length} records.`
  const { min, max } = dnsLimits.ttl
  const raised = clamped.filter(({ from }) => from < min)
  const lowered = clamped.filter(({ from }) => from > max)
  return [
    count,
    ...(raised.length > 0 ? [`TTL raised to ${min} seconds: ${listLines(raised)}`] : []),
    ...(lowered.length > 0 ? [`TTL lowered to ${max} seconds: ${listLines(lowered)}`] : []),
    ...(leftOut.length > 0 ? [`Skipped: ${listLines(leftOut)}`] : []),
  ].join(' ')
}

const maxListed = 5

/** Formats line numbers with reasons, such as `line 3, line 9 (HTTPS: not supported).` */
function listLines(lines: readonly { line: number; reason?: string }[]): string {
  const words = lines.slice(0, maxListed).map(({ line, reason }) => `line ${line}${reason ? ` (${reason})` : ''}`)
  return `${words.join(', ')}${lines.length > maxListed ? ` and ${lines.length - maxListed} more.` : '.'}`
}
