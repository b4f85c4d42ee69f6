import { Save } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { NameDialog } from '../NameDialog.tsx'
import { getBasename, getDirname } from '../paths.ts'
import { type TextFileOptions, useTextFile } from './useTextFile.ts'

export function TextEditor(props: TextFileOptions) {
  const { path } = props
  const file = useTextFile(props)
  const [naming, setNaming] = useState(false)

  return (
    <div className="flex size-full flex-col">
      <div className="flex h-8 shrink-0 items-center gap-2 border-b border-line px-2">
        <span className="min-w-0 flex-1 truncate text-small text-muted" title={path}>
          {getDirname(path)}
        </span>
        <Button size="small" variant="ghost" icon={Save} busy={file.busy} disabled={!file.unsaved} onClick={file.save}>
          Save
        </Button>
      </div>
      {file.conflict && (
        <div role="alert" className="flex flex-wrap items-center gap-2 border-b border-line bg-caution-soft px-3 py-2">
          <p className="basis-full">{getBasename(path)} changed on disk.</p>
          <Button size="small" onClick={file.overwrite}>
            Overwrite
          </Button>
          <Button size="small" onClick={file.reload}>
            Reload
          </Button>
          <Button size="small" onClick={() => setNaming(true)}>
            Save as…
          </Button>
        </div>
      )}
      <div ref={file.place} className="min-h-0 flex-1 overflow-hidden" />
      {naming && (
        <NameDialog
          title="Save as"
          label="Name"
          initial={getBasename(path)}
          confirmLabel="Save"
          onClose={() => setNaming(false)}
          onName={file.saveAs}
        />
      )}
    </div>
  )
}
