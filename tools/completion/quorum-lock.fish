# fish completion for quorum-lock, which knows the answers itself: quorum-lock __complete WORD...

function __quorum_lock_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] __complete $words[2..] 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path (commandline -ct)
        case folders
            __fish_complete_directories (commandline -ct)
        case 'command *'
            # From here on it is somebody else's command line.
            set -l first (math (string replace 'command ' '' $answer[1]) + 2)
            complete -C (string join ' ' -- (string escape -- $words[$first..]))
        case words
            printf '%s\n' $answer[2..]
    end
end

complete -c quorum-lock -f -k -a '(__quorum_lock_complete)'
