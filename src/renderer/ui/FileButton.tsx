import type { LucideIcon } from 'lucide-react'
import { useRef } from 'react'
import { Button } from './Button.tsx'

type FileButtonProps = {
  label: string
  icon?: LucideIcon
  size?: 'small' | 'medium'
  /** `accept` attribute of the input, such as `application/json,.json`. Defaults to any file. */
  accept?: string
  onFile: (file: File) => void
}

export function FileButton({ label, icon, size = 'medium', accept, onFile }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button size={size} {...(icon && { icon })} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        aria-label={label}
        tabIndex={-1}
        hidden
        {...(accept !== undefined && { accept })}
        onChange={({ target }) => {
          const [file] = target.files ?? []
          target.value = '' // allows selecting the same file again
          if (file) onFile(file)
        }}
      />
    </>
  )
}
